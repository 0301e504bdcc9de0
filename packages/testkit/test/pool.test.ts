/** How many test files run at a time. */

import { assert, eventually, suite } from '@stci/testkit';
import { filesPerCore, poolOptions, runPool, type PoolOptions } from '../dist/runner/pool.js';

/** Items that run until they are told to end. */
class Runs {
  readonly started: string[] = [];
  #ends = new Map<string, { end: () => void; fail: (error: Error) => void }>();

  readonly run = ({ name }: { name: string }): Promise<void> => {
    this.started.push(name);
    return new Promise((end, fail) => { this.#ends.set(name, { end, fail }); });
  };

  end(...names: string[]): void {
    for (const name of names) this.#ends.get(name)?.end();
  }

  fail(name: string): void {
    this.#ends.get(name)?.fail(new Error(`${name} failed`));
  }

  async reach(names: string): Promise<void> {
    await eventually(() => this.started.join('').length >= names.length, { deadlineMs: 2_000, what: names });
    assert.is(this.started.join(''), names);
  }
}

const items = [...'abcdefg'].map((name) => ({ name }));

suite('test files at a time', (test) => {
  let runs = new Runs();
  test.beforeEach(() => { runs = new Runs(); });

  function pool(options: Partial<PoolOptions>): Promise<void> {
    return runPool(items, { jobs: 2, jobsMax: 4, lookEveryMs: 1, ...options }, runs.run);
  }

  test('on a busy machine no more than jobs', async () => {
    let looks = 0;
    const all = pool({ idleCores: () => { looks += 1; return 0.2; } });
    await eventually(() => looks > 5, { deadlineMs: 2_000, what: 'looks' });
    await runs.reach('ab');
    runs.end('a');
    await runs.reach('abc');
    runs.end('b', 'c');
    await runs.reach('abcde');
    runs.end('d', 'e');
    await runs.reach('abcdefg');
    runs.end('f', 'g');
    await all;
  });

  test('more while a core is idle, up to the maximum; fewer again when none is', async () => {
    let idle = 1;
    let looks = 0;
    const all = pool({ idleCores: () => { looks += 1; return idle; } });
    await runs.reach('abcd');
    const seen = looks;
    await eventually(() => looks > seen + 5, { deadlineMs: 2_000, what: 'looks' });
    await runs.reach('abcd');
    idle = 0;
    runs.end('a', 'b');
    await eventually(() => looks > seen + 10, { deadlineMs: 2_000, what: 'looks' });
    await runs.reach('abcd');
    runs.end('c');
    await runs.reach('abcde');
    runs.end('d', 'e');
    await runs.reach('abcdefg');
    runs.end('f', 'g');
    await all;
  });

  test('stopped, it starts nothing more and ends with those that run, also if none does', async () => {
    let stopped = false;
    const options = { idleCores: () => 1, jobsMax: 2, isStopped: () => stopped };
    const all = pool(options);
    await runs.reach('ab');
    stopped = true;
    runs.end('a');
    runs.end('b');
    await all;
    await pool(options);
    await runs.reach('ab');
  });

  test('what fails ends it', async () => {
    let text = '';
    const all = pool({ idleCores: () => 0 }).catch((error: unknown) => { text = String(error); });
    runs.fail('b');
    await all;
    assert.is(text, 'Error: b failed');
    runs.end('a');
    await new Promise(setImmediate);
    assert.is(runs.started.join(''), 'ab', 'nothing is started afterwards');
  });

  test('a number of jobs is exact', () => {
    assert.equal(poolOptions(1), { jobs: 1, jobsMax: 1 });
    const { jobs, jobsMax } = poolOptions(undefined);
    assert.ok(jobs >= 2 && jobsMax >= Math.max(2 * jobs, jobs + 4));
  });

  test('files that share a core', () => {
    assert.equal([[6, 2], [16, 8], [1, 2], [3, 1]].map(([jobsMax = 0, cores = 0]) =>
      filesPerCore({ jobs: 1, jobsMax }, cores)), [3, 2, 1, 3]);
  });
});
