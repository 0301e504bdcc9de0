/**
 * What hostile MPI libraries send: recorded dialogues of real ones, with the names of this job, of which bytes, words,
 * requests and their order are others.
 */

import { readFileSync, readdirSync } from 'node:fs';
import {
  PmixServerEnd, encodeFrame, encodeHello, encodeRequest, fromByteText, toByteText, type PmixHello, type PmixRequest,
} from '@stci/pmi';
import { mutatedBytes, type Seeded } from '@stci/testkit';

/** Of what is tested: not of where this file is compiled to. */
const FIXTURES = new URL('../../../pmi/test/fixtures/', import.meta.url);
const RECORDED_KVS = 'kvs_test';
const TEXT_LENGTHS = [0, 64, 513, 1025, 70_000];
const COUNTS = [600, 5000];
const BIG = [0xffff_ffff, 0x7fff_ffff, 0x10_0000, 0];

export type Words = 'mpich' | 'openmpi';

/** Who a mutant is. */
export interface Impostor {
  readonly nspace: string;
  readonly rank: number;
}

/** What each connection has sent, as one piece for each message. */
function recorded(library: Words): Uint8Array[][] {
  const files = readdirSync(FIXTURES).filter((file) => file.startsWith(library)).sort();
  return files.flatMap((file) => readFileSync(new URL(file, FIXTURES), 'latin1').split('\n\n').map((text) =>
    text.split('\n').filter((line) => line.startsWith('>')).map((line) =>
      new Uint8Array(Buffer.from(line.slice(2), 'hex')))));
}

/** An end of the job that a library asks for is none of the service. */
function isAbort(line: string): boolean {
  return /^cmd=abort/mu.test(line);
}

export function pmi1Mutants(): (who: Impostor, draw: Seeded) => Uint8Array {
  const all = recorded('mpich').map((pieces) => pieces.map((piece) => toByteText(piece)));
  return ({ nspace }, draw) => {
    const lines = draw.pick(all).join('').replaceAll(RECORDED_KVS, nspace).match(/[^\n]*\n/gu) ?? [];
    // Behind a barrier, to which the others do not come, all else is refused.
    const hasBarriers = draw.below(3) === 0;
    const sent = lines.filter((line) => !isAbort(line) && (hasBarriers || !line.startsWith('cmd=barrier_in')));
    const kept = reordered(sent, draw);
    const at = draw.below(8) === 0 ? draw.below(kept.length) : -1;
    if (kept[at] !== undefined) kept[at] = lengthened(kept[at], draw);
    const bytes = fromByteText(kept.join(''));
    const mutant = bytes.length === 0 || draw.below(6) === 0 ? bytes : mutatedBytes(bytes, draw);
    return isAbort(toByteText(mutant)) ? bytes : mutant;
  };
}

function lengthened(line: string, draw: Seeded): string {
  const words = line.split(' ');
  const at = draw.below(words.length);
  words[at] = words[at]!.replace(/=[^\n]*/u, `=${'x'.repeat(draw.pick(TEXT_LENGTHS))}`);
  return words.join(' ');
}

/** One is left out, there twice, or another is where it was. */
function reordered<T>(items: readonly T[], draw: Seeded): T[] {
  const others = [...items];
  for (let count = draw.below(4); count > 0 && others.length > 0; count--) {
    const [at, to] = [draw.below(others.length), draw.below(others.length)];
    const kind = draw.below(4);
    if (kind === 0) others.splice(at, 1);
    else if (kind === 1) others.splice(to, 0, others[at] as T);
    else if (kind === 2) others.splice(to, 0, ...others.splice(at, 1));
    else others.push(...others.slice(at, at + 3));
  }
  return others;
}

interface Dialogue {
  readonly hello: PmixHello;
  readonly requests: readonly PmixRequest[];
}

function dialogueOf(pieces: readonly Uint8Array[]): Dialogue {
  const end = new PmixServerEnd();
  for (const piece of pieces) end.append(piece);
  const requests: PmixRequest[] = [];
  let hello: PmixHello | undefined;
  for (let arrival = end.next(); arrival !== undefined; arrival = end.next()) {
    if (arrival.kind === 'hello') hello = arrival.hello;
    else if (arrival.kind === 'request') requests.push(arrival.request);
  }
  if (hello === undefined) throw new Error('a dialogue without a hello');
  return { hello, requests };
}

export function pmixMutants(): (who: Impostor, draw: Seeded) => Uint8Array {
  const all = recorded('openmpi').map(dialogueOf);
  const requests = all.flatMap((dialogue) => dialogue.requests).filter(({ command }) => command !== 'abort');
  return (who, draw) => {
    const { hello, requests: own } = draw.pick(all);
    const form = draw.below(10) === 0 ? (draw.pick(all)).hello.form : hello.form;
    const some = draw.below(3) === 0 ? Array.from({ length: 1 + draw.below(6) }, () => draw.pick(requests)) : own;
    const chosen = reordered(some.filter(({ command }) => command !== 'abort'), draw);
    const oddAt = draw.below(4) === 0 ? draw.below(chosen.length + 1) : -1;
    const frames = chosen.map((request, at) => {
      const renamed = renameIn(request, hello.nspace, who.nspace) as PmixRequest;
      const odd = at === oddAt ? oddWords(renamed, draw) as PmixRequest : renamed;
      return encodeFrame(100 + at, encodeRequest(form, odd));
    });
    const parts = [encodeHello({ ...hello, ...who, form }), ...frames];
    const bytes = new Uint8Array(Buffer.concat(draw.below(12) === 0 ? reordered(parts, draw) : parts));
    if (bytes.length === 0) return bytes;
    const kind = draw.below(5);
    // Most of what is behind a header that is wrong says nothing.
    const mutant = kind === 0 ? bytes
      : kind === 1 ? bytes.subarray(0, draw.below(bytes.length))
        : kind === 2 ? withLength(bytes, draw) : mutatedBytes(bytes, draw);
    return isAllowed(mutant, who) ? mutant : bytes.subarray(0, draw.below(bytes.length));
  };
}

/** Nobody speaks for another rank, which is to go on, nor ends the job. */
function isAllowed(bytes: Uint8Array, who: Impostor): boolean {
  const end = new PmixServerEnd();
  end.append(bytes);
  try {
    for (let arrival = end.next(); arrival !== undefined; arrival = end.next()) {
      if (arrival.kind === 'hello') {
        const { nspace, rank } = arrival.hello;
        if (nspace === who.nspace && rank !== who.rank) return false;
      }
      if (arrival.kind === 'request' && arrival.request.command === 'abort') return false;
    }
  } catch {
    // What is behind it is not read.
  }
  return true;
}

function withLength(bytes: Uint8Array, draw: Seeded): Uint8Array {
  const changed = bytes.slice();
  if (changed.length < 4) return changed;
  const view = new DataView(changed.buffer);
  view.setUint32(draw.below(changed.length - 3), draw.pick(BIG), draw.below(2) === 0);
  return changed;
}

function renameIn(value: unknown, from: string, to: string): unknown {
  return mapped(value, (text) => (text === from ? to : text), (items) => items);
}

/** Some texts are of other lengths, or a list is longer. */
function oddWords(value: unknown, draw: Seeded): unknown {
  if (draw.below(2) === 0) {
    const text = (each: string): string => (draw.below(4) === 0 ? 'z'.repeat(draw.pick(TEXT_LENGTHS)) : each);
    return mapped(value, text, (items) => items);
  }
  let isLong = false;
  return mapped(value, (each) => each, (items) => {
    if (isLong || items.length === 0 || draw.below(3) > 0) return items;
    isLong = true;
    return Array.from({ length: draw.pick(COUNTS) }, (_, at) => items[at % items.length]);
  });
}

function mapped(
  value: unknown, text: (each: string) => string, list: (items: readonly unknown[]) => readonly unknown[],
): unknown {
  if (Array.isArray(value)) return list(value).map((each) => mapped(each, text, list));
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => {
    const isWord = typeof each === 'string' && key !== 'type' && key !== 'command';
    return [key, isWord ? text(each) : mapped(each, text, list)];
  }));
}
