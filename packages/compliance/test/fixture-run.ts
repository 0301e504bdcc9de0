/** Runs a fixture, whose suites fail, and finds their counter-examples in what it prints. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert } from '@stci/testkit';

const RUNNER = fileURLToPath(new URL('../../../scripts/test.mjs', import.meta.url));

export interface FixtureRun {
  readonly output: string;
  /** Of the component's suites. */
  examplesOf(component: string): object[];
  assertFound(component: string, example: object): void;
  /** The components of which something was found. */
  assertAll(components: readonly string[]): void;
}

export function runFixture(name: string): FixtureRun {
  const path = fileURLToPath(new URL(`fixtures/${name}.fixture.js`, import.meta.url));
  const { stdout: output } = spawnSync(process.execPath, [RUNNER, '--file', path], {
    encoding: 'utf8', maxBuffer: 64 * 1024 * 1024,
  });
  const found = new Map<string, object[]>();
  let component = '';
  for (const line of output.split('\n')) {
    component = /^FAIL \S+: \w+ compliance: (\w+)/.exec(line)?.[1] ?? component;
    const again = /^ +again: \w+Example\(component, (.*)\)$/.exec(line)?.[1];
    if (again !== undefined) found.set(component, [...(found.get(component) ?? []), JSON.parse(again) as object]);
  }
  const examplesOf = (one: string): object[] => found.get(one) ?? [];
  return {
    output,
    examplesOf,
    assertFound: (one, example) => {
      const all = examplesOf(one).map((each) => JSON.stringify(each));
      assert.ok(all.includes(JSON.stringify(example)), `${JSON.stringify(example)} is not among\n${all.join('\n')}`);
    },
    assertAll: (components) => assert.equal([...found.keys()].sort(), [...components].sort()),
  };
}
