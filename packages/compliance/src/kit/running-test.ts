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

/** Begins to watch; the function returned, called once, tells what was done since. A test may run others meanwhile. */
export function watchTest(): () => TestActivity {
  const [before, outer] = [assertions, skipReason];
  skipReason = undefined;
  return () => {
    const activity = { assertions: assertions - before, skipReason };
    skipReason = outer;
    return activity;
  };
}
