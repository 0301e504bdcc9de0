/** The topology compliance suite accepts a correct component and finds each mistake; the components are a fixture's. */

// @timeoutMs 120000
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';

const RUNNER = fileURLToPath(new URL('../../../scripts/test.mjs', import.meta.url));
const FIXTURE = fileURLToPath(new URL('fixtures/topology-mutants.fixture.js', import.meta.url));

/** Component → the test that must find what is wrong with it. */
const FOUND_BY: Readonly<Record<string, string>> = {
  kind: 'any size: links',
  size: 'any size: links',
  nooption: 'its parameters are the defaults of its options',
  anyoption: 'bad requests are refused',
  anysize: 'bad requests are refused',
  wide: 'any size: next hops and diameter',
  narrow: 'any size: next hops and diameter',
  noparam: 'its parameters are the defaults of its options',
  paramfirst: 'its parameters are the defaults of its options',
  declines: 'any size: links',
  moody: 'its record',
  oldframework: 'any size: links',
  outofbounds: 'any size: links',
  silent: 'its record',
};

suite('topology compliance', (test) => {
  let output = '';
  test.before(() => {
    output = spawnSync(process.execPath, [RUNNER, '--file', FIXTURE], { encoding: 'utf8' }).stdout;
  }, { timeoutMs: 100_000 });

  const failures = (name: string): string[] =>
    [...output.matchAll(/^FAIL \S+: topology compliance: (\w+) › (.*)$/gm)]
      .filter((match) => match[1] === name).map((match) => match[2] as string);

  test('the right component passes', () => {
    assert.equal(failures('star'), [], output);
    assert.match(output, /\d+ passed, \d+ failed\n$/);
  });

  for (const [name, by] of Object.entries(FOUND_BY)) {
    test(`the mistake "${name}" is found`, () => assert.ok(failures(name).includes(by), failures(name).join(', ')));
  }

  test('every component of the fixture is named here', () => {
    const seen = new Set([...output.matchAll(/^FAIL \S+: topology compliance: (\w+) › /gm)].map((match) => match[1]));
    assert.equal([...seen].sort(), Object.keys(FOUND_BY).sort());
  });
});
