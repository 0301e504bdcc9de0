/** Words of the client's settings that depend on the working directory. */

import { assert, suite } from '@stci/testkit';
import { findRelativePath } from '@stci/launcher-ssh';

suite('relative paths of the client', (test) => {
  test('programs, files and commands', () => {
    for (const [client, options, found] of [
      ['ssh', '-p 2222 -o ControlMaster=no -l me', undefined],
      ['/usr/bin/ssh', '-F /etc/x -i ~/.ssh/key -S none -oIdentityFile=%d/key', undefined],
      ['ssh', '-o ProxyCommand=nc -o UserKnownHostsFile=/dev/null -o IdentityAgent=SSH_AUTH_SOCK', undefined],
      ['./ssh', '', './ssh'],
      ['bin/ssh', '', 'bin/ssh'],
      ['ssh', '-F cluster.conf', '-F'],
      ['ssh', '-F ~/cluster.conf', '-F'],
      ['~/bin/ssh', '', '~/bin/ssh'],
      ['ssh', '-oIdentityFile=%h/key', '-oIdentityFile=%h/key'],
      ['ssh', '-oIdentityFile="key"', '-oIdentityFile="key"'],
      ['ssh', '-Fcluster.conf', '-Fcluster.conf'],
      ['ssh', '-p 22 -i keys/id', '-i'],
      ['ssh', '-o IdentityFile=id', '-o'],
      ['ssh', '-oUserKnownHostsFile=hosts', '-oUserKnownHostsFile=hosts'],
      ['ssh', '-oproxycommand=./gate', '-oproxycommand=./gate'],
    ] as const) {
      const words = options.split(' ').filter((word) => word !== '');
      assert.is(findRelativePath(client, words), found, `${client} ${options}`);
    }
  });
});
