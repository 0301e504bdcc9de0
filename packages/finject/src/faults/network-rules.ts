/**
 * Rules of nftables for fault `network`, in a table of their own on the victim. A rule matches while the set `lasts`
 * has elements, and these have a timeout in the kernel: so the fault ends on time even if every process that knows of
 * it was killed. What is left then is a table that matches nothing, which the next fault takes over. Pure.
 */

import type { FaultOrder } from '@stci/interface';

/** Faults `network` on one host at a time; each has the first table that is free. */
export const TABLES_MAX = 8;
/** What the kernel says when the set of another fault still has its elements. */
export const TAKEN = 'File exists';
/** What it says when a table, or this fault's mark in it, is not there. */
export const GONE = 'No such file or directory';

/** Burst of mode rate. The kernel lets one second's bytes pass besides; a packet of a local link has up to 64 KiB. */
const BURST_BYTES = 131_072;

type Args = FaultOrder['args'];

const tableName = (index: number): string => `stci_fault_${index}`;

/**
 * Takes a table and fills it, in one transaction. An element can be created only where there is none, or where its
 * time is over: so a table whose fault lasts is refused. `mark`: a word that no other fault has.
 */
export function injectText(index: number, mark: string, args: Args, durationMs: number): string {
  const table = tableName(index);
  const chains = [['in', 'input'], ['out', 'output']].filter(([way]) => waysOf(args).includes(way as string));
  return [
    `add table inet ${table}`,
    `add set inet ${table} lasts { type nf_proto; flags timeout; }`,
    `create element inet ${table} lasts { ipv4 timeout 1s }`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    'set lasts { type nf_proto; flags timeout;',
    `elements = { ipv4 timeout ${durationMs}ms, ipv6 timeout ${durationMs}ms }; }`,
    `set mark_${mark} { type mark; }`,
    ...chains.flatMap(([way, hook]) => [
      `chain ${way}ward { type filter hook ${hook} priority raw; policy accept;`,
      ...rulesOf(way as 'in' | 'out', args),
      '}',
    ]),
    '}',
  ].join('\n');
}

/** Fails where the table is another fault's by now. */
export function removeText(index: number, mark: string): string {
  const table = tableName(index);
  return [`delete set inet ${table} mark_${mark}`, `delete table inet ${table}`].join('\n');
}

/** What is lost on its way out would be told to the program that sends it: loss and rate are of what arrives. */
function waysOf({ mode, direction }: Args): readonly string[] {
  if (mode !== 'part') return ['in'];
  return direction === 'both' ? ['in', 'out'] : [String(direction)];
}

function rulesOf(way: 'in' | 'out', args: Args): string[] {
  const [device, far] = way === 'in' ? ['iifname', 'saddr'] : ['oifname', 'daddr'];
  const spare = (args['spare'] as readonly string[]).join(', ');
  return [
    `${device} "lo" accept`,
    'meta nfproto != @lasts accept',
    ...(spare === '' ? [] : ['sport', 'dport'].map((port) => `tcp ${port} { ${spare} } accept`)),
    ...peersOf(args, far as string).map((peers) => `${peers}${dropOf(args)}`),
  ];
}

/** Beginnings of rules. */
function peersOf({ peers }: Args, far: string): readonly string[] {
  const all = peers as readonly string[];
  if (all.length === 0) return [''];
  const families = { ip: all.filter((peer) => !peer.includes(':')), ip6: all.filter((peer) => peer.includes(':')) };
  return Object.entries(families).flatMap(([family, those]) =>
    (those.length === 0 ? [] : [`${family} ${far} { ${those.join(', ')} } `]));
}

function dropOf({ mode, loss, rate }: Args): string {
  if (mode === 'loss') return `numgen random mod 100 < ${loss} drop`;
  return mode === 'rate' ? `limit rate over ${rate} bytes/second burst ${BURST_BYTES} bytes drop` : 'drop';
}
