/** Checks of a job specification, and the environment of its ranks. */

import { readFileSync } from 'node:fs';
import {
  JOB_VARIABLES, RANK_VARIABLES, hostOf, jobProblems, jobVariables, mapJob, rankEnvironment, validateJob,
} from '@stci/core';
import type { AllocatedJob } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LIMITS, app, hosts, job } from '../job-help.js';

suite('job checks', (test) => {
  test('a good job has no problems', () => {
    const stdin = { to: 'rank', rank: 4 } as const;
    assert.equal(jobProblems(job({ apps: [app(3), app(2, { hosts: [0] })], stdin, timeoutMs: 1 })), []);
  });

  test('each mistake is one problem that names what was expected', () => {
    const cases: [Partial<AllocatedJob>, string][] = [
      [{ apps: [] }, 'expected at least one program, got none'],
      [{ apps: [app(1, { program: '' })] }, 'expected a program, got an empty name'],
      [{ apps: [app(0)] }, 'expected at least 1 rank, got 0'],
      [{ apps: [app(1), app(-1)] }, 'program 2: expected at least 1 rank, got -1'],
      [{ apps: [app(1, { args: ['ok', 'a\0b'] })] }, 'argument 2: expected text without NUL, got one at position 1'],
      [{ apps: [app(1, { wdir: '\0' })] }, 'working directory: expected text without NUL'],
      [{ apps: [app(1, { hosts: [] })] }, 'expected at least one host, got none'],
      [{ apps: [app(1, { hosts: [1] })] }, 'expected hosts by index in 0..0, got 1'],
      [{ apps: [app(1, { hosts: [0, 0] })] }, 'in ascending order, each once'],
      [{ hosts: [] }, 'expected at least one host, got none'],
      [{ hosts: hosts('a a') }, 'expected each host once, got a twice (--host)'],
      [{ hosts: hosts('a:0') }, 'host a (--host): expected at least 1 slot, got 0'],
      [{ mapBy: { by: 'ppr', perHost: 0 } }, 'map by ppr: expected at least 1 rank per host, got 0'],
      [{ env: { 'A=B': 'x' } }, 'expected a name without = and NUL, got "A=B"'],
      [{ env: { '': 'x' } }, "expected a variable's name, got an empty one"],
      [{ env: { A: 'x\0' } }, 'environment: value of A: expected text without NUL'],
      [{ timeoutMs: 0 }, 'timeout: expected more than 0 and at most 2147483647 ms, got 0'],
      [{ launchTimeoutMs: 1e10 }, 'launch timeout: expected more than 0'],
      [{ launchTimeoutMs: Number.NaN }, 'launch timeout: expected more than 0'],
      [{ apps: [app(3)], stdin: { to: 'rank', rank: 3 } }, "expected a rank in 0..2, 'all' or 'none', got 3"],
    ];
    for (const [wrong, words] of cases) {
      const problems = jobProblems(job(wrong));
      assert.is(problems.length, 1, problems.join('\n'));
      assert.match(problems[0]!, words);
    }
  });

  test('all problems are told at once, up to twenty', () => {
    const many = job({ apps: Array.from({ length: 30 }, () => app(0)), wdir: '\0' });
    const { message } = assert.throwsCode('STCI_JOB_INVALID', () => validateJob(many));
    assert.match(message, 'for 31 reasons');
    assert.match(message, 'and 11 more');
    validateJob(job({}));
  });
});

suite('environment of a rank', (test) => {
  const spec = job({
    apps: [app(2, { env: { A: 'app', STCI_RANK: 'no' } }), app(1)], hosts: hosts('a b'), mapBy: { by: 'node' },
    env: { A: 'job', PATH: '/bin' },
  });
  const map = mapJob(spec, LIMITS);
  const of = (rank: number): Record<string, string> => {
    const place = hostOf(map).placement(rank);
    const hostMap = map.hosts[place.host]!;
    return rankEnvironment(spec, { job: 7, session: 's1', size: 3, node: place.host, nodes: 2, hostMap }, place);
  };

  test('tells rank, sizes, host and app; the runtime stands above app above job', () => {
    assert.equal(of(0), {
      A: 'app', PATH: '/bin', STCI_RANK: '0', STCI_SIZE: '3', STCI_LOCAL_RANK: '0', STCI_LOCAL_SIZE: '2',
      STCI_NODE: '0', STCI_NODES: '2', STCI_HOST: 'a', STCI_APP: '0', STCI_ATTEMPT: '1', STCI_JOB_ID: '7',
      STCI_SESSION_ID: 's1',
    });
    const last = of(2);
    assert.equal([last['A'], last['STCI_LOCAL_RANK'], last['STCI_HOST'], last['STCI_APP']], ['job', '1', 'a', '1']);
  });

  test('docs/environment.md lists exactly these variables', () => {
    const doc = readFileSync(new URL('../../../../docs/environment.md', import.meta.url), 'utf8');
    const rows = [...doc.matchAll(/^\| `(STCI_\w+)` \|/gm)].map((row) => row[1]);
    assert.equal(rows, [...RANK_VARIABLES, ...JOB_VARIABLES]);
  });

  test('tells where the others are', () => {
    const names = (host: number): string => ['k net:[1]', 'k net:[1]', 'k net:[2]'][host] ?? '';
    assert.equal(jobVariables(map.hosts, names), { STCI_HOSTS: 'a,b', STCI_MASTER: 'localhost' });
    assert.equal(jobVariables(map.hosts, (host) => `m${host}`), { STCI_HOSTS: 'a,b', STCI_MASTER: 'a' });
    assert.equal(jobVariables(map.hosts, (host) => (host === 0 ? 'm' : undefined)).STCI_MASTER, 'a');
    const letters = (host: number): string => [...String(host)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
    const long = (_: unknown, host: number) => ({ host, name: `${'n'.repeat(100)}${letters(host)}`, runs: [] });
    assert.equal(jobVariables(Array.from({ length: 1000 }, long), names), {}, 'no longer than a variable may be');
  });
});
