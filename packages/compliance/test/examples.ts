/** Runs suites of a broken component, and gives the counter-examples that they find. */

import { BrokenPromise, collectTests } from '@stci/compliance';

/** As JSON, in the order of the tests. */
export async function examplesOf(define: () => void): Promise<string[]> {
  const found: string[] = [];
  for (const test of collectTests(define)) {
    for (const thrown of await test.run()) {
      if (!(thrown instanceof BrokenPromise)) throw thrown;
      found.push(JSON.stringify(thrown.example));
    }
  }
  return found;
}
