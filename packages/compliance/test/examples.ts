/** Runs suites of a broken component, and gives the counter-examples that they find. */

import { BrokenPromise, collectTests, type CollectedTest } from '@stci/compliance';

/** Tests of more than one promise. */
const OF_SEVERAL = /bounds$|powers|other names|other parameters|sampled/;

/** The tests by which this promise is judged. */
export function judging(tests: readonly CollectedTest[], promise: string): readonly CollectedTest[] {
  return tests.filter(({ name }) => name.includes(promise) || OF_SEVERAL.test(name));
}

/** As JSON, in the order of the tests: all of them, or those of this promise. */
export async function examplesOf(define: () => void, promise = ''): Promise<string[]> {
  const found: string[] = [];
  for (const test of judging(collectTests(define), promise)) {
    for (const thrown of await test.run()) {
      if (!(thrown instanceof BrokenPromise)) throw thrown;
      found.push(JSON.stringify(thrown.example));
    }
  }
  return found;
}
