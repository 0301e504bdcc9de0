/** `finject kill` with a kind of fault from a plugin, and without a reader. */

import { assert, suite } from '@stci/testkit';
import { LONG, said, submitSleep, withLab, writePlugin } from './e2e-finject.js';

const HOSTS = ['--host', 'a,b', '--launcher', 'local'];

suite('finject kill', (test) => {
  test('--plugin adds its kinds, which the session must have, too; a reader that goes undoes', withLab(async (lab) => {
    writePlugin(lab.path('own'));
    said(await lab.run('stci', 'start', ...HOSTS, '--name', 'with', '--plugin', 'own'), 0);
    said(await lab.run('stci', 'start', ...HOSTS, '--name', 'without'), 0);
    try {
      for (const session of ['with', 'without']) await submitSleep(lab, session, 2);
      const own = ['--host', 'b', '--kind', 'own', '--arg', 'word=abc'];
      const told = await lab.run('finject', 'kill', 'with.1', ...own, '--plugin', 'own');
      said(told, 0);
      assert.match(told.out, /^injected: abc \(root:1 on b\)\n$/u);
      const gone = lab.start('finject', 'kill', 'with.1', '--rank', '1', '--for', '60s');
      gone.child.stdout?.destroy();
      assert.equal((await gone.result).exitCode, 141); // Undone at once, not after a minute.
      assert.is(lab.processes().some((one) => one.endsWith(' T')), false);
      const unnamed = await lab.run('finject', 'kill', 'with.1', ...own);
      assert.is(unnamed.exitCode, 194);
      assert.match(unnamed.err, /component "own".*needs --plugin PATH\./su);
      const absent = await lab.run('finject', 'kill', 'without.1', ...own, '--plugin', 'own');
      said(absent, 204);
      assert.match(absent.out, /^failed: Unknown fault component "own"/u);
      const wrong = await lab.run('finject', 'kill', 'with.1', ...own, '--plugin', 'nowhere');
      assert.match(wrong.err, /plugin .*nowhere: there is no such directory/u);
    } finally {
      for (const session of ['with', 'without']) said(await lab.run('stci', 'stop', session), 0);
    }
  }), LONG);
});
