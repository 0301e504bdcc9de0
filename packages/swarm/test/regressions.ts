/** Runs that failed once: a test for each entry of packages/swarm/regressions. */

import { readFileSync } from 'node:fs';
import { assert, type TestApi } from '@stci/testkit';
import { KINDS, readRegressions, type Kind } from '@stci/swarm';

export function kindOf(name: string): Kind {
  const kind = KINDS.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`expected one of ${KINDS.map((each) => each.name).join(', ')}, got ${name}`);
  return kind;
}

export function regressionsText({ regressions }: Kind): string {
  return readFileSync(new URL(`../regressions/${regressions}`, import.meta.url), 'utf8');
}

export function testRegressions(test: TestApi, kind: Kind): void {
  for (const [index, { found, plan }] of readRegressions(kind, regressionsText(kind)).entries()) {
    test(`regression ${index + 1}: ${found}`, () => assert.equal(kind.run(plan).problems, []), { timeoutMs: 30_000 });
  }
}
