/**
 * The reduction of the values of a group to its first rank, over a binomial tree of messages: in step k, places whose
 * k-th bit is set send what they have to the place without it. So each place has combined a contiguous range, and the
 * order of places is kept: the function need not be commutative.
 *
 * A rank that cannot send its value sends why, so that nobody above it waits; only a rank that ends sends nothing, and
 * who waits for it is told of its end.
 */

import { FORMS, PROGRAM_MESSAGE_BYTES_MAX, type Form } from '@stci/interface';
import type { Combine, Group } from './contracts.js';
import { ClientError } from './errors.js';
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
  const { name, messages, group, tag } = tree;
  const { rank: place, ranks } = group;
  const children = childrenOf(place, ranks.length).map((child) => ranks[child] as number);
  const open = new Set(children);
  const outcome = await combineAll(tree, children, open).catch((fault: unknown) => errorOf(name, fault));
  const parent = place > 0 ? ranks[place & (place - 1)] : undefined;
  if (parent !== undefined) await sendUp(messages, parent, tag, outcome);
  const left = [...open].map((from) => [from, tag] as const);
  if (outcome instanceof ClientError) return { error: outcome, left };
  return { result: outcome, left };
}

async function combineAll<T>(
  { name, messages, tag, value, combine }: ReduceTree<T>, children: readonly number[], open: Set<number>,
): Promise<Encoded> {
  let sum = value;
  for (const child of children) {
    const { bytes } = await messages.take(child, tag, name);
    open.delete(child);
    sum = await combine(sum, opened(bytes) as T);
  }
  return encodeValue(name, sum, PROGRAM_MESSAGE_BYTES_MAX - 1);
}

/** Places whose values this one receives, in the order in which they are combined. */
export function childrenOf(place: number, size: number): number[] {
  const children: number[] = [];
  for (let bit = 1; (place & bit) === 0 && place + bit < size; bit *= 2) children.push(place + bit);
  return children;
}

/** The receiver may have ended: the collective fails then, by the controller's word. */
async function sendUp(messages: Messages, to: number, tag: string, outcome: Encoded | ClientError): Promise<void> {
  const sent = outcome instanceof ClientError ? sealedError(outcome) : sealedValue(outcome);
  await messages.pass(to, tag, sent).catch(() => undefined);
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

export function sealedError({ code, message }: ClientError): Uint8Array {
  return sealed(REASON, new TextEncoder().encode(JSON.stringify({ code, message })));
}

/** The value. Throws what a rank below could not do. */
export function opened(message: Uint8Array): unknown {
  const bytes = message.subarray(1);
  if (message[0] !== REASON) return decodeValue({ form: FORMS[message[0] as number] as Form, bytes });
  const { code, message: text } = JSON.parse(new TextDecoder().decode(bytes)) as ClientError;
  throw new ClientError(code, text);
}

/** What a program's function throws is named. */
export function errorOf(name: string, fault: unknown): ClientError {
  if (fault instanceof ClientError) return fault;
  const text = fault instanceof Error ? fault.message : String(fault);
  return new ClientError('STCI_CLIENT_COMBINE', `${name}: the function threw: ${text}`, { cause: fault });
}
