/** The calls of stci-client: what each asks of the agent, and what it writes. */

import { readSync } from 'node:fs';
import { hostname } from 'node:os';
import {
  FORMS, MARK_CHARS_MAX, PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_PART_BYTES_MAX, PROGRAM_TAG, ranksInRanges, type RankRange,
  type RecordHead,
} from '@stci/interface';
import { checkKey, checkTag } from '../checks.js';
import { faultAlone } from '../topology-alone.js';
import type { Agent, Answer } from './agent.js';
import { CommandError, EXIT } from './errors.js';
import type { CallName } from './call-table.js';
import { seconds, whole, type Words } from './words.js';

/** What this rank is, and its agent; without one it is a job of one. */
export interface Place {
  readonly agent: Agent | undefined;
  readonly rank: number;
  readonly size: number;
}

/** What a call writes to standard output, and its exit code. */
export interface Outcome {
  readonly out?: Uint8Array | string;
  readonly exitCode?: number;
}

type Call = (words: Words, place: Place) => Promise<Outcome> | Outcome;

const INPUT_PIECE = 65_536;
const GET_EVERY_MS = 50;
const DONE: Outcome = {};

/** Standard input as it is; throws beyond bytesMax. */
function readInput(bytesMax: number): Uint8Array {
  const pieces: Buffer[] = [];
  for (let total = 0; total <= bytesMax;) {
    const piece = Buffer.alloc(INPUT_PIECE);
    const count = readPiece(piece);
    if (count === 0) return Buffer.concat(pieces);
    total += count;
    pieces.push(piece.subarray(0, count));
  }
  throw new CommandError(EXIT.usage, `standard input has more than ${bytesMax} bytes`);
}

/** Standard input may be a pipe or terminal that some other process has set to not wait. */
function readPiece(piece: Buffer): number {
  for (;;) {
    try {
      return readSync(0, piece);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw new CommandError(EXIT.failed, `cannot read standard input: ${String(error)}`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** The text of the arguments, else standard input; and how it is encoded. */
function brought({ options }: Words, text: string | undefined, bytesMax: number): { form: string; bytes: Uint8Array } {
  const form = options['--form'] ?? (text === undefined ? 'bytes' : 'text');
  if (!(FORMS as readonly string[]).includes(form)) {
    throw new CommandError(EXIT.usage, `--form: '${form}' is none of ${FORMS.join(', ')}`);
  }
  const bytes = text === undefined ? readInput(bytesMax) : Buffer.from(text);
  if (bytes.length <= bytesMax) return { form, bytes };
  throw new CommandError(EXIT.usage, `${bytes.length} bytes; at most ${bytesMax}`);
}

function rankOf(text: string, what: string, { size }: Place): number {
  const rank = whole(text, what);
  if (rank < size) return rank;
  throw new CommandError(EXIT.usage, `${what}: there is no rank ${rank}; the job has ranks 0 to ${size - 1}`);
}

const list = (ranks: readonly number[]): Outcome => ({ out: `${ranks.join(' ')}\n` });
const rangeText = ([first, last]: RankRange): string => (first === last ? `${first}` : `${first}-${last}`);

function alone(what: string): CommandError {
  return new CommandError(EXIT.connection, `${what}. Write: stcirun --client -n N program`);
}

function neighboursAlone(spec: string, size: number, position: number): Outcome {
  const fault = faultAlone(spec, size)
    ?? (position < size ? undefined : `topology ${spec}: position ${position} is not below its size, ${size}`);
  if (fault !== undefined) throw new CommandError(EXIT.usage, fault);
  return list([]);
}

async function collective(place: Place, head: RecordHead, bytes?: Uint8Array): Promise<Answer | undefined> {
  return place.agent?.vote(head, bytes);
}

/** The parts one after the other, as they are, or as the options say. */
function parts({ options }: Words, { head, bytes }: Answer): Outcome {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const [rank, length, form] of head['parts'] as readonly (readonly [number, number, string])[]) {
    const part = bytes.subarray(at, at + length);
    at += length;
    if (options['--head'] !== undefined) pieces.push(Buffer.from(`${rank} ${form} ${length}\n`));
    pieces.push(part);
    if (options['--lines'] !== undefined && part.at(-1) !== 0x0a) pieces.push(Buffer.from('\n'));
  }
  return { out: Buffer.concat(pieces) };
}

async function together(
  words: Words, place: Place, kind: string, text: string | undefined, root?: number,
): Promise<Outcome> {
  const { form, bytes } = brought(words, text, PROGRAM_PART_BYTES_MAX);
  const answer = await collective(place, { kind, form, root }, bytes);
  return parts(words, answer ?? { head: { parts: [[0, bytes.length, form]] }, bytes });
}

async function value(agent: Agent, key: string): Promise<Uint8Array | undefined> {
  const { head, bytes } = await agent.call({ type: 'get', key }, 'value');
  return head['found'] === true ? bytes : undefined;
}

export const RUN: Readonly<Record<Exclude<CallName, 'help' | 'include-dir'>, Call>> = {
  rank: (_words, { rank }) => ({ out: `${rank}\n` }),
  size: (_words, { size }) => ({ out: `${size}\n` }),
  hosts: async (_words, { agent }) => {
    const answer = await agent?.call({ type: 'hosts' }, 'hosts');
    const hosts = (answer?.head['hosts'] ?? [[hostname(), [[0, 0]]]]) as readonly (readonly [string, RankRange[]])[];
    return { out: hosts.map(([name, ranks]) => `${name} ${ranks.map(rangeText).join(',')}\n`).join('') };
  },
  put: async (words, { agent }) => {
    const [word, text] = words.words;
    const key = checkKey('put', word);
    const { form, bytes } = brought(words, text, PROGRAM_PART_BYTES_MAX);
    if (agent === undefined) throw alone('put: in a job of one nobody keeps keys between two calls');
    await agent.call({ type: 'put', key, form }, 'done', bytes);
    return DONE;
  },
  get: async ({ words, options }, { agent }) => {
    if (agent === undefined) throw alone('get: in a job of one nobody keeps keys between two calls');
    const key = checkKey('get', words[0]);
    const endMs = performance.now() + seconds(options['--wait'] ?? '0', '--wait');
    for (;;) {
      const out = await value(agent, key);
      if (out !== undefined) return { out };
      if (performance.now() >= endMs) throw new CommandError(EXIT.no, `get: there is no key '${key}'`);
      await new Promise((resolve) => setTimeout(resolve, GET_EVERY_MS));
    }
  },
  exchange: async (_words, place) => (await collective(place, { kind: 'exchange' }), DONE),
  barrier: async (_words, place) => (await collective(place, { kind: 'barrier' }), DONE),
  send: async (words, place) => {
    const to = rankOf(words.words[0] as string, 'send', place);
    const tag = checkTag('send', words.options['--tag'] ?? PROGRAM_TAG);
    const { form, bytes } = brought(words, words.words[1], PROGRAM_MESSAGE_BYTES_MAX);
    if (place.agent === undefined) throw alone('send: in a job of one nobody keeps messages between two calls');
    await place.agent.call({ type: 'send', to, tag, form }, 'done', bytes, undefined);
    return DONE;
  },
  recv: async ({ options }, place) => {
    const { '--from': source, '--tag': wanted, '--timeout': timeout } = options;
    const tag = wanted === undefined ? undefined : checkTag('recv', wanted);
    const from = source === undefined ? undefined : rankOf(source, '--from', place);
    const waitMs = timeout === undefined ? undefined : seconds(timeout, '--timeout');
    if (place.agent === undefined) throw alone('recv: in a job of one nobody sends');
    const receive = { type: 'receive', from, tag, waitMs };
    const { head, bytes } = await place.agent.call(receive, 'message', undefined, undefined);
    if (options['--head'] === undefined) return { out: bytes };
    const line = `${head['from']} ${head['tag']} ${head['form']} ${bytes.length}\n`;
    return { out: Buffer.concat([Buffer.from(line), bytes]) };
  },
  broadcast: async (words, place) => {
    const root = rankOf(words.words[0] as string, 'broadcast', place);
    if (root === place.rank) return together(words, place, 'broadcast', words.words[1], root);
    return parts(words, (await collective(place, { kind: 'broadcast', root })) as Answer);
  },
  gather: (words, place) =>
    together(words, place, 'gather', words.words[1], rankOf(words.words[0] as string, 'gather', place)),
  allgather: (words, place) => together(words, place, 'allgather', words.words[0]),
  agree: async ({ words }, place) => {
    const [said = 'true'] = words;
    if (!['true', 'false'].includes(said)) throw new CommandError(EXIT.usage, `agree: '${said}' is not true or false`);
    const answer = await collective(place, { kind: 'agree', flag: said === 'true' });
    const { flag } = (answer?.head['agreed'] ?? { flag: said === 'true' }) as { flag: boolean };
    return flag ? DONE : { exitCode: EXIT.no };
  },
  shrink: async (_words, place) => {
    const answer = await collective(place, { kind: 'shrink' });
    return list(ranksInRanges(((answer?.head['agreed'] ?? { ranks: [[0, 0]] }) as { ranks: RankRange[] }).ranks));
  },
  neighbours: async ({ words: [spec], options }, { agent, rank, size }) => {
    const positions = whole(options['--size'] ?? `${size}`, '--size');
    const position = whole(options['--position'] ?? `${rank}`, '--position');
    if (agent === undefined) return neighboursAlone(spec as string, positions, position);
    const head = { type: 'topology', spec, size: positions, position };
    return list((await agent.call(head, 'topology')).head['neighbours'] as number[]);
  },
  failed: async (_words, { agent }) => {
    await agent?.call({ type: 'hosts' }, 'hosts'); // What the agent knows has come before its answer.
    const reasons = new Map(agent?.lost.flatMap(([first, last, reason]) =>
      ranksInRanges([[first, last]]).map((rank): [number, string] => [rank, reason])));
    return { out: [...reasons].sort(([a], [b]) => a - b).map(([rank, reason]) => `${rank} ${reason}\n`).join('') };
  },
  mark: async ({ words: [name = ''] }, { agent }) => {
    if (name.length > MARK_CHARS_MAX || !/^[ -~]+$/u.test(name)) {
      throw new CommandError(EXIT.usage, `mark: expected a name of 1 to ${MARK_CHARS_MAX} printable ASCII characters`);
    }
    agent?.send({ type: 'mark', name });
    await agent?.call({ type: 'hosts' }, 'hosts'); // The agent has taken the mark before it answers.
    return DONE;
  },
};
