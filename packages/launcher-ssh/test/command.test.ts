/** ssh's command line, and valid host names. */

import { hostProblem, sshCommand } from '@stci/launcher-ssh';
import { assert, suite } from '@stci/testkit';

const NONCE = 'feedfacefeedface';

suite('ssh: command line', (test) => {
  const params = { client: 'ssh', options: ['-p', '2222'], node: '', connectMs: 2500 };
  const start = { nonce: NONCE, hash: 'a'.repeat(64), bundleBytes: 9, ownNode: '/usr/bin/node', node: '' };
  const host = { name: 'fe80::1%eth0', user: 'me', slots: 1, slotsBound: false, origin: 'test' };

  test('user options first, ours after, the host behind --', () => {
    const command = sshCommand(host, params, start);
    assert.equal(command.slice(0, 3), ['ssh', '-p', '2222']);
    assert.ok(command.includes('BatchMode=yes') && command.includes('ConnectTimeout=3'));
    assert.equal(command.slice(-5, -1), ['-l', 'me', '--', 'fe80::1%eth0']);
  });

  test('signs of life are asked for so that the lease, which knows of the silence, is over before', () => {
    for (const [silenceMs, seconds] of [[200, 1], [3000, 3], [10_000, 8], [86_400_000, 64_800]] as const) {
      const command = sshCommand(host, { ...params, silenceMs }, start);
      assert.ok(2 * seconds * 1000 > silenceMs);
      assert.ok(command.includes(`ServerAliveInterval=${seconds}`) && command.includes('ServerAliveCountMax=1'));
    }
    assert.not.ok(sshCommand(host, params, start).some((word) => word.startsWith('ServerAlive')));
  });

  test('the line for the shell has no character that a shell reads inside quotes', () => {
    const nodes = ['', `it's a $HOME/!bang\\ "quoted"\n`];
    for (const node of nodes) {
      const line = sshCommand(host, params, { ...start, node, ownNode: `/it's` }).at(-1) as string;
      assert.not.match(line, /[!\n]|\\\\|\\'/);
      assert.is(line.split(`'`).length % 2, 1, 'all quotes are closed');
    }
  });

  test('names that ssh or a shell would take for something else are refused', () => {
    for (const name of ['-oProxyCommand=x', '', 'a b', 'a\tb', 'a;b', '$(x)', 'a\nb', '`x`', 'a|b', `a'b`]) {
      assert.ok(hostProblem(name) !== undefined, name);
    }
    for (const name of ['h1', 'a.b-c_d', '::1', 'fe80::1%eth0', '10.0.0.1', 'alias+1']) {
      assert.is(hostProblem(name), undefined);
    }
  });
});
