/**
 * Texts of well-known keys of PMI-1. `PMI_process_mapping` says on which node each rank runs: blocks of (first node,
 * number of nodes, ranks on each), in the order of ranks. `PMI_dead_processes` lists ranks.
 */

import { PMI1_MAXES } from './server.js';

export const PROCESS_MAPPING_KEY = 'PMI_process_mapping';
export const DEAD_PROCESSES_KEY = 'PMI_dead_processes';

/** An answer's line, 1024 bytes at the client, has room for the value and these. */
const ANSWER_CHARS = 'cmd=get_result rc=0 msg=success value=\n'.length + 1;
const VALUE_CHARS_MAX = PMI1_MAXES.valueChars - ANSWER_CHARS;
/** Ranks of a mapping that is read. */
const RANKS_MAX = 0x10_0000;

/**
 * The mapping of ranks to nodes 0, 1, …; undefined if it doesn't fit into a client's line, which finds its neighbours
 * itself then.
 */
export function formatProcessMapping(nodeOfRank: readonly number[]): string | undefined {
  const blocks: { first: number; nodes: number; ranks: number }[] = [];
  let run = 0;
  for (let rank = 0; rank < nodeOfRank.length; rank += run) {
    const node = nodeOfRank[rank] as number;
    run = 1;
    while (rank + run < nodeOfRank.length && nodeOfRank[rank + run] === node) run += 1;
    const last = blocks.at(-1);
    if (last?.ranks === run && last.first + last.nodes === node) last.nodes += 1;
    else blocks.push({ first: node, nodes: 1, ranks: run });
  }
  const text = `(vector${blocks.map(({ first, nodes, ranks }) => `,(${first},${nodes},${ranks})`).join('')})`;
  return text.length <= VALUE_CHARS_MAX ? text : undefined;
}

/** The node of each rank; undefined of a text that is no mapping. */
export function parseProcessMapping(text: string): number[] | undefined {
  if (!/^\(vector(,\([0-9]{1,7},[0-9]{1,7},[0-9]{1,7}\))*\)$/.test(text)) return undefined;
  const nodeOfRank: number[] = [];
  for (const [, first, nodes, ranks] of text.matchAll(/\(([0-9]+),([0-9]+),([0-9]+)\)/g)) {
    const count = Number(nodes) * Number(ranks);
    if (nodeOfRank.length + count > RANKS_MAX) return undefined;
    for (let at = 0; at < count; at++) nodeOfRank.push(Number(first) + Math.floor(at / Number(ranks)));
  }
  return nodeOfRank;
}

/** Ranks with commas between, without ranges: MPICH's ch4 reads none. Cut to what fits into a client's line. */
export function formatDeadProcesses(ranks: readonly number[]): string {
  const text = ranks.join(',');
  return text.length <= VALUE_CHARS_MAX ? text : text.slice(0, text.lastIndexOf(',', VALUE_CHARS_MAX));
}

/** Ranks of a list, with ranges `a-b`, as ch3 takes them too; undefined of a text that is none. */
export function parseDeadProcesses(text: string): number[] | undefined {
  const ranks: number[] = [];
  for (const part of text === '' ? [] : text.split(',')) {
    const match = /^ *([0-9]{1,7}) *(?:- *([0-9]{1,7}) *)?$/.exec(part);
    if (match === null) return undefined;
    const [low, high] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (high < low || ranks.length + high - low >= RANKS_MAX) return undefined;
    for (let rank = low; rank <= high; rank++) ranks.push(rank);
  }
  return ranks;
}
