/**
 * A loud program: writes lines of 80 bytes in large blocks. Each names its rank and counts modulo the lines of a
 * block, so that a reader finds torn, lost, doubled and misplaced lines. Arguments: bytes to write at least, rank
 * (default: what the launcher
 * says in the environment).
 */
'use strict';
const { writeSync } = require('node:fs');

const LINE_BYTES = 80;
const BLOCK_LINES = 800;

const bytes = Number(process.argv[2]);
const { STCI_RANK, PMI_RANK, OMPI_COMM_WORLD_RANK } = process.env;
const rank = process.argv[3] ?? STCI_RANK ?? PMI_RANK ?? OMPI_COMM_WORLD_RANK;
let text = '';
for (let i = 0; i < BLOCK_LINES; i++) {
  const head = `${rank} ${String(i).padStart(3, '0')} `;
  text += `${head.padEnd(LINE_BYTES - 1, 'x')}\n`;
}
const block = Buffer.from(text);

for (let written = 0; written < bytes; written += block.length) {
  let from = 0;
  while (from < block.length) from += writeSync(1, block, from);
}
