/** Spawn of PMI-1: as many blocks as there are programs, and one answer to all of them. */

import { joinBytes } from '@stci/interface';
import { refuseStream } from '../bytes/refusal.js';
import { formatBlock, type Pmi1Command } from './lines.js';

/** One program of a spawn. */
export interface Pmi1Program {
  readonly processes: number;
  readonly command: string;
  readonly args: readonly string[];
  readonly infos: readonly (readonly [string, string])[];
  /** Pairs of the new job's key space before it starts. */
  readonly preputs: readonly (readonly [string, string])[];
}

/** Programs of one spawn. */
const PROGRAMS_MAX = 256;
const PROCESSES_MAX = 0x10_0000;

export function formatSpawn(programs: readonly Pmi1Program[]): Uint8Array {
  return joinBytes(programs.map((program, index) => formatBlock('spawn', {
    nprocs: program.processes,
    execname: program.command,
    totspawns: programs.length,
    spawnssofar: index + 1,
    ...Object.fromEntries(program.args.map((arg, at) => [`arg${at + 1}`, arg])),
    argcnt: program.args.length,
    ...pairsOut('preput', program.preputs, 'preput_num'),
    ...pairsOut('info', program.infos, 'info_num'),
  })));
}

function pairsOut(prefix: string, pairs: Pmi1Program['infos'], count: string): Record<string, string | number> {
  const lines = pairs.flatMap(([key, value], at) => [[`${prefix}_key_${at}`, key], [`${prefix}_val_${at}`, value]]);
  return { [count]: pairs.length, ...Object.fromEntries(lines) as Record<string, string> };
}

/** Blocks of a spawn until it has as many as its first announced. */
export class SpawnBlocks {
  #programs: Pmi1Program[] = [];
  #total = 0;

  get isOpen(): boolean {
    return this.#programs.length > 0;
  }

  /** The programs once all are there. What contradicts itself is a refused stream: nobody knows what answers it. */
  add(block: Pmi1Command): readonly Pmi1Program[] | undefined {
    const total = count(block, 'totspawns', PROGRAMS_MAX);
    if (!this.isOpen) this.#total = total;
    if (total !== this.#total || total === 0) refuseStream('as many spawns as the first announced', total);
    this.#programs.push(programOf(block));
    if (this.#programs.length < total) return undefined;
    const programs = this.#programs;
    this.#programs = [];
    return programs;
  }
}

function programOf(block: Pmi1Command): Pmi1Program {
  const { fields } = block;
  const args = Array.from({ length: count(block, 'argcnt', fields.size) }, (_, at) => fields.get(`arg${at + 1}`) ?? '');
  return {
    processes: count(block, 'nprocs', PROCESSES_MAX),
    command: fields.get('execname') ?? '',
    args,
    infos: pairsIn(block, 'info', 'info_num'),
    preputs: pairsIn(block, 'preput', 'preput_num'),
  };
}

function pairsIn(block: Pmi1Command, prefix: string, countKey: string): (readonly [string, string])[] {
  return Array.from({ length: count(block, countKey, block.fields.size) }, (_, at) =>
    [block.fields.get(`${prefix}_key_${at}`) ?? '', block.fields.get(`${prefix}_val_${at}`) ?? ''] as const);
}

function count(block: Pmi1Command, key: string, max: number): number {
  const text = block.fields.get(key) ?? '0';
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : max + 1;
  return value <= max ? value : refuseStream(`${key} of at most ${max}`, text);
}
