/** Runs a program in each rank of a real job of five ranks on three hosts. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, type Result } from './e2e.js';

const CLIENT = fileURLToPath(new URL('../../client/', import.meta.url));
export const LONG = { timeoutMs: 120_000 };
const LOCAL = ['--client', '--launcher', 'local', '--host', 'a:2,b:2,c:1', '-n', '5'];
const HEAD = `import { connect } from '@stci/client';
const stci = await connect();
const { rank, size } = stci;
const say = (...words) => console.log(rank, ...words);
const failed = ({ code, message }) => say(code, message);
`;

/** Runs a module in each rank, from a file: texts of a job have a bound. */
export async function ranks(text: string, options: readonly string[] = []): Promise<Result> {
  const directory = mkdtempSync(join(CLIENT, 'dist-test/program-'));
  try {
    writeFileSync(join(directory, 'program.mjs'), HEAD + text);
    return await run([...LOCAL, ...options, process.execPath, join(directory, 'program.mjs')], {
      limitMs: 60_000, cwd: tmpdir(),
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

export const linesOf = ({ out }: Result): string[] => out.trim().split('\n').sort();
