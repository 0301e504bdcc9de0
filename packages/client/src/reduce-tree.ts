/**
 * The reduction of the values of a group to its first rank, over a binomial tree of messages: in step k, places whose
 * k-th bit is set send what they have to the place without it. So each place has combined a contiguous range, and the
 * order of places is kept: the function need not be commutative.
 *
 * A rank that cannot send its value sends why, so that nobody above it waits; only a rank that ends sends nothing, and
 * who waits for it is told of its end.
 */

import { FORMS, PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_PART_BYTES_MAX, type Form } from '@stci/interface';
import type { Combine, Group } from './contracts.js';
import { ClientError, type ClientErrorCode } from './errors.js';
import type { Messages } from './messages.js';
import { decodeValue, encodeValue, type Encoded } from './values.js';

export interface ReduceTree<T> {
  readonly name: string;
  readonly messages: Messages;
  readonly group: Group;
  /** Of this reduction only. */
  readonly tag: string;
  readonly value: T;
  readonly combine: Combine<T>;
  /** Aborted: the collective has ended; nothing is received, combined or sent any more. */
  readonly signal: AbortSignal;
}

export interface Reduced {
  /** At the first of the group, if there is no error. */
  readonly result?: Encoded;
  /** Of this rank, or of one below it. */
  readonly error?: ClientError | undefined;
  /** Messages that may still come. */
  readonly left: readonly (readonly [from: number, tag: string])[];
}

/** Does not reject. */
export async function reduceInTree<T>(tree: ReduceTree<T>): Promise<Reduced> {
  const { name, messages, group, tag, signal } = tree;
  const { rank: place, ranks } = group;
  const children = childrenOf(place, ranks.length).map((child) => ranks[child] as number);
  const open = new Set(children);
  const of = `rank ${ranks[place]}`;
  const combined = await combineAll(tree, children, open).catch((fault: unknown) => errorOf(name, fault, of));
  if (signal.aborted) return { left: [...open].map((from) => [from, tag] as const) };
  const parent = place > 0 ? ranks[place & (place - 1)] : undefined;
  const outcome = parent === undefined ? combined : await sendUp(messages, parent, { tag, name, combined });
  const left = [...open].map((from) => [from, tag] as const);
  if (outcome instanceof ClientError) return { error: outcome, left };
  return { result: outcome, left };
}

async function combineAll<T>(
  { name, messages, group, tag, value, combine, signal }: ReduceTree<T>, children: readonly number[], open: Set<number>,
): Promise<Encoded> {
  let sum = value;
  encodeValue(name, value, PROGRAM_MESSAGE_BYTES_MAX - 1); // The function need not see what cannot be sent.
  for (const child of children) {
    const { bytes } = await messages.take(child, tag, name, signal);
    open.delete(child);
    signal.throwIfAborted();
    sum = await combine(sum, opened(bytes) as T);
    if (sum === undefined) throw noAnswer(name);
  }
  return encodeValue(name, sum, group.rank === 0 ? PROGRAM_PART_BYTES_MAX : PROGRAM_MESSAGE_BYTES_MAX - 1);
}

/** Places whose values this one receives, in the order in which they are combined. */
export function childrenOf(place: number, size: number): number[] {
  const children: number[] = [];
  for (let bit = 1; (place & bit) === 0 && place + bit < size; bit *= 2) children.push(place + bit);
  return children;
}

interface Up {
  readonly tag: string;
  readonly name: string;
  readonly combined: Encoded | ClientError;
}

/** Where the value is refused, its receiver gets the reason instead; that is the outcome then. */
async function sendUp(messages: Messages, to: number, { tag, name, combined }: Up): Promise<Encoded | ClientError> {
  let outcome = combined;
  if (!(outcome instanceof ClientError)) {
    const refused = await messages.pass(to, tag, sealedValue(outcome), name).then(() => undefined, errorIn(name));
    // The receiver has ended: the collective fails, by the controller's word.
    if (refused === undefined || ENDS.includes(refused.code)) return outcome;
    outcome = refused;
  }
  await messages.pass(to, tag, sealedError(outcome), name).catch(() => undefined);
  return outcome;
}

/** First byte of a message: why there is no value; else the value's form. */
const REASON = 255;

function sealed(first: number, bytes: Uint8Array): Uint8Array {
  const message = new Uint8Array(1 + bytes.length);
  message[0] = first;
  message.set(bytes, 1);
  return message;
}

export function sealedValue({ form, bytes }: Encoded): Uint8Array {
  return sealed(FORMS.indexOf(form), bytes);
}

export function sealedError(error: ClientError): Uint8Array {
  return sealed(REASON, encodeError(error).bytes);
}

/** Messages of programs may have any length. */
const ERROR_CHARS_MAX = 10_000;

export function encodeError(error: ClientError | undefined): Encoded {
  const { code, message } = error ?? { code: '', message: '' };
  const text = JSON.stringify({ code, message: message.slice(0, ERROR_CHARS_MAX) });
  return { form: 'json', bytes: new TextEncoder().encode(text) };
}

export function decodeError({ bytes }: Encoded, name: string): ClientError {
  if (bytes.length === 0) return new ClientError('STCI_CLIENT_COMBINE', `${name}: it failed at another rank`);
  const { code, message } = JSON.parse(new TextDecoder().decode(bytes)) as ClientError;
  return new ClientError(code, message);
}

/** The value. Throws what a rank below could not do. */
export function opened(message: Uint8Array): unknown {
  const bytes = message.subarray(1);
  if (message[0] !== REASON) return decodeValue({ form: FORMS[message[0] as number] as Form, bytes });
  throw decodeError({ form: 'json', bytes }, '');
}

/** Errors of calls to a rank that has ended, or after the connection has. */
const ENDS: readonly ClientErrorCode[] = [
  'STCI_CLIENT_RANK_LOST', 'STCI_CLIENT_RANK_ENDED', 'STCI_CLIENT_LOST', 'STCI_CLIENT_CLOSED',
];

const errorIn = (name: string) => (fault: unknown): ClientError => errorOf(name, fault);

/** Error of a function that combines two values. */
function noAnswer(name: string): ClientError {
  return new ClientError('STCI_CLIENT_COMBINE', `${name}: combine answered undefined (is there a return?)`);
}

/** What a program's function throws is named. */
export function errorOf(name: string, fault: unknown, of = ''): ClientError {
  if (fault instanceof ClientError) return fault;
  const text = fault instanceof Error ? fault.message : String(fault);
  const what = of === '' ? 'the function' : `the function of ${of}`;
  return new ClientError('STCI_CLIENT_COMBINE', `${name}: ${what} threw: ${text}`, { cause: fault });
}
