/**
 * Counter-examples: what breaks a promise of a contract, as plain data, made as small as the suite can. A suite has its
 * promises as a table, whose names and texts are those of the contract's docstring; a check takes an example and
 * throws; `verify` shrinks the example for which it throws, and says which promise is broken and how to see it again.
 */

import { ownFrames, printable } from './failure.js';
import { patient } from './patience.js';
import { countAssertion } from './running-test.js';
import { isWatched, working } from './stall.js';

/** Of making one example smaller. A check of a large example may take long: then the time ends it. */
const TRIES_MAX = 2000;
const SHRINK_MS_MAX = patient(2000);
const FIRST_SEEDS = 16;

/** A framework's promises: name → text. */
export interface Contract<Name extends string> {
  readonly framework: string;
  readonly promises: Readonly<Record<Name, string>>;
  /** Function of this package that runs one example again: `topologyExample`. */
  readonly again?: string;
  /** What that function is passed after the example: `cases`. */
  readonly more?: string;
}

export interface Example<Name extends string> {
  readonly promise: Name;
}

/** A component does not keep what its framework's contract promises. */
export class BrokenPromise extends Error {
  /** Framework and name: `topology.route`. */
  readonly promise: string;
  /** Plain data, JSON. */
  readonly example: unknown;

  constructor(promise: string, example: unknown, message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'BrokenPromise';
    this.promise = promise;
    this.example = example;
  }
}

/** The error of an example for which `thrown` was thrown. */
export function broken<Name extends string>(
  { framework, promises, again, more }: Contract<Name>,
  example: Example<Name>,
  thrown: unknown,
): BrokenPromise {
  if (thrown instanceof BrokenPromise) return thrown;
  const promise = `${framework}.${example.promise}`;
  const lines = [
    `${promise} is broken. ${promises[example.promise]}`,
    `    found: ${foundText(thrown)}`,
    ...(again === undefined ? [] : [`    again: ${againText(again, more, example)}`]),
  ];
  return new BrokenPromise(promise, example, lines.join('\n'), thrown);
}

function againText(again: string, more: string | undefined, example: unknown): string {
  return `${again}(${['component', JSON.stringify(example), ...(more === undefined ? [] : [more])].join(', ')})`;
}

let isShrinking = true;

/** What `body` finds is told as it is, not made smaller first: for who asks only whether something is found. */
export async function asFound<Result>(body: () => Promise<Result>): Promise<Result> {
  isShrinking = false;
  try {
    return await body();
  } finally {
    isShrinking = true;
  }
}

let listener: ((text: string) => void) | undefined;

/** Each example is told before it is checked, with its promise: a call that does not return can be named. */
export function onExample(listen: ((text: string) => void) | undefined): void {
  listener = listen;
}

function tellExample<Name extends string>(
  { framework, again, more }: Contract<Name>, example: Example<Name>,
): void {
  if (listener === undefined && !isWatched()) return;
  const how = again === undefined ? JSON.stringify(example) : againText(again, more, example);
  const text = `${framework}.${example.promise}: ${how}`;
  working(text);
  listener?.(text);
}

/** The first line; of an exception of the component's code its kind, and where it was thrown. */
function foundText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `${printable(thrown)} was thrown`;
  const [what] = thrown.message.split('\n');
  const [place] = ownFrames(thrown);
  return place === undefined ? `${what}` : `${thrown.name}: ${what} (${place})`;
}

/** Passes if `check` does. Otherwise rejects with a BrokenPromise of this example. */
export async function promised<Name extends string>(
  contract: Contract<Name>,
  example: Example<Name>,
  check: () => unknown,
): Promise<void> {
  countAssertion();
  tellExample(contract, example);
  try {
    await check();
  } catch (thrown) {
    throw broken(contract, example, thrown);
  }
}

/**
 * Passes if `check` does not throw. Otherwise takes the first of `smaller` for which it throws, too, as long as there
 * is one, and throws a BrokenPromise. `smaller` yields what is simpler than the example, the simplest first.
 */
export function verify<Name extends string, One extends Example<Name>>(
  contract: Contract<Name>,
  example: One,
  check: (example: One) => void,
  smaller: (example: One) => Iterable<One> = () => [],
): void {
  countAssertion();
  const tried = (one: One): void => {
    tellExample(contract, one);
    check(one);
  };
  const first = failureOf(tried, example);
  if (first === undefined) return;
  let [found, { thrown }] = [example, first];
  let tries = 0;
  const endMs = performance.now() + SHRINK_MS_MAX;
  for (let isSmaller = isShrinking; isSmaller;) {
    isSmaller = false;
    for (const candidate of smaller(found)) {
      if (++tries > TRIES_MAX || performance.now() > endMs) break;
      const failure = failureOf(tried, candidate);
      if (failure === undefined) continue;
      [found, { thrown }, isSmaller] = [candidate, failure, true];
      break;
    }
  }
  throw broken(contract, found, thrown);
}

function failureOf<One>(check: (example: One) => void, example: One): { readonly thrown: unknown } | undefined {
  try {
    check(example);
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}

/** The list without one of its items, for each. */
export function* without<Item>(list: readonly Item[]): Generator<Item[]> {
  for (let i = 0; i < list.length; i++) yield [...list.slice(0, i), ...list.slice(i + 1)];
}

/** 0, half, one less: smaller values of a whole number. */
export function* less(value: number, least = 0): Generator<number> {
  const tried = new Set([value]);
  for (const one of [least, Math.floor((value + least) / 2), value - 1]) {
    if (one >= least && !tried.has(one)) yield one;
    tried.add(one);
  }
}

/** Smaller seeds: the first ones, since a smaller seed is no smaller run, then those of `less`. */
export function* lessSeed(seed: number, least = 0): Generator<number> {
  for (let one = least; one < Math.min(seed, least + FIRST_SEEDS); one++) yield one;
  if (seed > least + FIRST_SEEDS) yield* less(seed, least + FIRST_SEEDS);
}
