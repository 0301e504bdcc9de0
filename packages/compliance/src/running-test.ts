/** What the running test has done: the number of its assertions, whatever their outcome, and why it is skipped. */

let assertions = 0;
let skipReason: string | undefined;

export function countAssertion(): void {
  assertions += 1;
}

/**
 * Called and returned from by a test that finds while it runs that it does not apply here: it is skipped with this
 * reason, unless it fails. One that knows it before uses `test.skipIf`.
 */
export function skip(reason: string): void {
  skipReason = reason;
}

export interface TestActivity {
  readonly assertions: number;
  readonly skipReason: string | undefined;
}

/** Begins to watch; the function returned tells what was done since. */
export function watchTest(): () => TestActivity {
  const before = assertions;
  skipReason = undefined;
  return () => ({ assertions: assertions - before, skipReason });
}
