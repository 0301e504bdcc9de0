/** The plugin examples/unshare: ranks in namespaces, which an ordinary user makes in another way than root. */

import { rmSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { run, sh, type Result } from './e2e.js';
import { copyExamples, whyNoNamespaces } from './example-place.js';

suite('examples: unshare', (test) => {
  let place = '';
  test.before(() => { place = copyExamples('unshare'); });
  test.after(() => rmSync(place, { recursive: true, force: true }));
  const using = (...args: string[]): Promise<Result> =>
    run(['--plugin', 'unshare', '--launcher', 'unshare', '--host', 'a,b', ...args], { cwd: place });

  const missing = whyNoNamespaces();
  test.skipIf(missing !== undefined, missing ?? '', 'unshare: ranks have namespaces of their own', async () => {
    const { exitCode, out, err } = await using('-n', '2',
      ...sh('echo "$STCI_HOST $(hostname) $(ps ax | grep -c "[/]agent.sh")"'));
    assert.is(exitCode, 0, err);
    assert.equal(out.split('\n').filter(Boolean).sort().map((line) => line.split(' ').slice(0, 2).join(' ')),
      ['a a', 'b b']);
    const { err: of } = await using('--mca', 'launcherproc.unshare.command=no-such-unshare', 'true');
    assert.match(of, 'no-such-unshare');
  }, { timeoutMs: 60_000 });
});
