/**
 * The programs of a simulated host, found by name in /bin and /usr/bin. Seconds are decimal (`sleep 0.5`), as for the
 * real ones. Checkers compute the expected output with `lineBytes`.
 */

import type { CollectiveKind, SignalName } from '@stci/interface';
import { connectProgram } from './program-client.js';
import { talk } from './talk.js';
import { textBytes, type OutputName, type Tool, type ToolProgram } from './tool.js';

const BURST_BYTES = 16_384;
const LINE_BYTES_MIN = 16;
const FIRST_LETTER = 0x61;
const LETTERS = 26;
const NEWLINE = 0x0a;

/** What begins a line: rank, stream and number of up to 32-bit, with their blanks, chars. */
const HEAD_CHARS_MAX = 27;

/**
 * Lines `first` to `first + count - 1` that `lines` writes as rank `rank`: each `bytes` long with its newline, and
 * unique.
 */
export function lineBytes(rank: string, stream: OutputName, first: number, count: number, bytes: number): Uint8Array {
  const sizeMin = Math.max(bytes, LINE_BYTES_MIN);
  const target = new Uint8Array(count * Math.max(sizeMin, HEAD_CHARS_MAX + 1));
  let at = 0;
  for (let index = first; index < first + count; index++) {
    const head = `${rank} ${stream === 'stdout' ? 'out' : 'err'} ${index} `;
    for (let char = 0; char < head.length; char++) target[at + char] = head.charCodeAt(char);
    const end = at + Math.max(sizeMin - 1, head.length);
    target.fill(FIRST_LETTER + (index % LETTERS), at + head.length, end);
    target[end] = NEWLINE;
    at = end + 1;
  }
  return target.subarray(0, at);
}

function numberAt(tool: Tool, index: number, fallback: number): number {
  const value = Number(tool.args[index] ?? fallback);
  return Number.isFinite(value) ? value : fallback;
}

function print(tool: Tool, text: string): void {
  tool.write('stdout', textBytes(text));
  tool.exit(0);
}

/** COUNT lines of BYTES on `streams` in turn, as fast as the pipe allows, or one every INTERVAL seconds. */
function lines(tool: Tool, streams: readonly OutputName[], status: number): void {
  const count = numberAt(tool, 0, 10);
  const bytes = numberAt(tool, 1, 80);
  const intervalMs = numberAt(tool, 2, 0) * 1000;
  const rank = tool.env['STCI_RANK'] ?? '-';
  const burst = intervalMs > 0 ? 1 : Math.max(1, Math.floor(BURST_BYTES / bytes));
  let next = 0;
  const step = (): void => {
    while (next < count) {
      const stream = streams[Math.floor(next / burst) % streams.length] as OutputName;
      const some = Math.min(burst, count - next);
      const isRoom = tool.write(stream, lineBytes(rank, stream, next, some, bytes));
      next += some;
      if (intervalMs > 0) return tool.after(intervalMs, step);
      if (!isRoom) return undefined;
    }
    return tool.exit(status);
  };
  if (intervalMs === 0) tool.onWritable(step);
  step();
}

function cat(tool: Tool): void {
  tool.onWritable(() => tool.reading(true));
  tool.read(
    (chunk) => {
      if (!tool.write('stdout', chunk)) tool.reading(false);
    },
    () => tool.exit(0),
  );
}

/** Reads all of its standard input, then writes the number of bytes. */
function countInput(tool: Tool): void {
  let bytes = 0;
  tool.read(
    (chunk) => {
      bytes += chunk.length;
    },
    () => print(tool, `${bytes}\n`),
  );
}

function readLine(tool: Tool): void {
  tool.read(
    (chunk) => {
      if (!chunk.includes(10)) return;
      tool.reading(false);
      tool.exit(0);
    },
    () => tool.exit(0),
  );
}

/** fork [--session] [--quiet] [--wait S] CHILD…: leaves CHILD running and ends with 0 after S seconds. */
function fork(tool: Tool): void {
  const args = [...tool.args];
  let waitMs = 1;
  const options = { ownSession: false, keepOutput: true };
  while (args[0]?.startsWith('--') === true) {
    const option = args.shift();
    if (option === '--session') options.ownSession = true;
    if (option === '--quiet') options.keepOutput = false;
    if (option === '--wait') waitMs = Number(args.shift()) * 1000;
  }
  tool.fork(args, options);
  tool.after(waitMs, () => tool.exit(0));
}

function ignoreTerm(tool: Tool): void {
  tool.onSignal('SIGTERM', 'ignore');
  tool.onSignal('SIGINT', 'ignore');
  tool.after(numberAt(tool, 0, 3600) * 1000, () => tool.exit(0));
}

/** unkillable S: ignores all signals, ends after S seconds. */
function unkillable(tool: Tool): void {
  tool.process.isUnkillable = true;
  tool.after(numberAt(tool, 0, 60) * 1000, () => tool.exit(0));
}

/** crash SIGNAL AFTER */
function crash(tool: Tool): void {
  const name = (tool.args[0] ?? 'SIGSEGV').replace(/^(?:SIG)?/, 'SIG') as SignalName;
  tool.after(numberAt(tool, 1, 0) * 1000, () => tool.raise(name));
}

/** close-stdout S: closes both outputs, continues for S seconds. */
function closeStdout(tool: Tool): void {
  tool.closeOutput('stdout');
  tool.closeOutput('stderr');
  tool.after(numberAt(tool, 0, 0.01) * 1000, () => tool.exit(0));
}

/** on-signal SIGNAL STATUS S: ends with STATUS at SIGNAL, with 0 after S seconds. */
function onSignal(tool: Tool): void {
  tool.onSignal((tool.args[0] ?? 'SIGUSR1') as SignalName, () => tool.exit(numberAt(tool, 1, 0)));
  tool.after(numberAt(tool, 2, 60) * 1000, () => tool.exit(0));
}

/** What `agree` calls in turn: all go on without ranks that are lost. */
const AGREEMENTS: readonly CollectiveKind[] = ['agree', 'shrink', 'shrink'];

/**
 * agree ROUNDS S: agrees so often with the other ranks, over the socket of its session agent, with S seconds in
 * between; writes what it is told, a line for each, then ends with 0.
 */
function agree(tool: Tool): void {
  const rounds = numberAt(tool, 0, 3);
  const rank = Number(tool.env['STCI_RANK']);
  let round = 0;
  const vote = (): void => {
    const kind = AGREEMENTS[round % AGREEMENTS.length] as CollectiveKind;
    send({ type: 'vote', kind, flag: (rank + round) % 5 > 0 });
  };
  const send = connectProgram(tool, (event) => {
    if (event.type === 'welcome') return vote();
    if (event.type !== 'agreed') return;
    tool.write('stdout', textBytes(`${JSON.stringify(event.agreed)}\n`));
    round += 1;
    tool.after(numberAt(tool, 1, 0) * 1000, () => (round < rounds ? vote() : tool.exit(0)));
  });
}

/** phases NAME S NAME S …: says by the client library that it has come to NAME, and stays there for S seconds. */
function phases(tool: Tool): void {
  let at = 0;
  const step = (): void => {
    const name = tool.args[at];
    if (name === undefined) return tool.exit(0);
    send({ type: 'mark', name });
    tool.after(numberAt(tool, at + 1, 1) * 1000, step);
    at += 2;
  };
  const send = connectProgram(tool, (event) => event.type === 'welcome' && step());
}

function env(tool: Tool): void {
  const rows = Object.entries(tool.env).map(([name, value]) => `${name}=${value}\n`);
  print(tool, rows.sort().join(''));
}

export const PROGRAMS: Readonly<Record<string, ToolProgram>> = {
  true: (tool) => tool.exit(0),
  false: (tool) => tool.exit(1),
  /** exit STATUS [S] */
  exit: (tool) => tool.after(numberAt(tool, 1, 0) * 1000, () => tool.exit(numberAt(tool, 0, 0))),
  sleep: (tool) => tool.after(numberAt(tool, 0, 1) * 1000, () => tool.exit(0)),
  echo: (tool) => print(tool, `${tool.args.join(' ')}\n`),
  hostname: (tool) => print(tool, `${tool.hostname}\n`),
  env,
  cat,
  'count-input': countInput,
  lines: (tool) => lines(tool, ['stdout'], 0),
  stderr: (tool) => lines(tool, ['stderr'], 0),
  mixed: (tool) => lines(tool, ['stdout', 'stderr'], 0),
  /** lines-exit COUNT BYTES INTERVAL STATUS */
  'lines-exit': (tool) => lines(tool, ['stdout'], numberAt(tool, 3, 1)),
  'ignore-term': ignoreTerm,
  unkillable,
  fork,
  agree,
  phases,
  talk,
  crash,
  'close-stdout': closeStdout,
  'read-one-line-and-exit': readLine,
  'on-signal': onSignal,
  /** Any command line: it runs until it is killed. */
  sh: () => undefined,
};
