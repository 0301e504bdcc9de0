/** Messages of OpenSSH, word for word (9.2 on Linux, others where noted), and the diagnosis of each. */

import { describeWait, diagnose, type SshFacts } from '@stci/launcher-ssh';
import { assert, suite } from '@stci/testkit';

const BASE: SshFacts = { host: 'h4', phase: 'connect', end: { status: 255 }, lines: [], banner: '', node: '' };
const tell = (facts: Partial<SshFacts>): string => diagnose({ ...BASE, ...facts }).message;

/** ssh's message, phase, a part of the diagnosis. */
const TABLE: readonly (readonly [lines: string, phase: string, part: string])[] = [
  ['ssh: Could not resolve hostname h4: Name or service not known', 'resolve', 'name of the host is not known'],
  ['ssh: Could not resolve hostname h4: Temporary failure in name resolution', 'resolve', 'Correct the name'],
  ['ssh: Could not resolve hostname h4: nodename nor servname provided, or not known', 'resolve', 'name'], // macOS
  ['ssh: connect to host h4 port 22: Connection refused', 'connect', 'connection refused: no ssh server listens'],
  ['ssh: connect to host h4 port 22: No route to host', 'connect', 'no route to host'],
  ['ssh: connect to host h4 port 22: Network is unreachable', 'connect', 'no route to host'],
  ['ssh: connect to host h4 port 22: Connection timed out', 'connect', 'does not answer'],
  ['ssh: connect to host h4 port 22: Operation timed out', 'connect', 'does not answer'], // macOS
  ['Connection timed out during banner exchange\nConnection to 10.77.0.9 port 22 timed out', 'connect', 'listens'],
  ['kex_exchange_identification: Connection closed by remote host\nConnection closed by 10.0.0.4 port 22',
    'connect', 'MaxStartups'],
  ['kex_exchange_identification: read: Connection reset by peer\nConnection reset by 10.0.0.4 port 22',
    'connect', 'MaxStartups'],
  ['Unable to negotiate with 10.0.0.4 port 22: no matching host key type found. Their offer: ssh-rsa',
    'connect', 'no method'],
  ['No ED25519 host key is known for h4 and you have requested strict checking.\nHost key verification failed.',
    'authenticate', 'ssh h4 true'],
  ['Host key verification failed.', 'authenticate', 'not accepted'],
  ['@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@\nHost key verification failed.',
    'authenticate', 'ssh-keygen -R h4'],
  ['me@h4: Permission denied (publickey).', 'authenticate', 'ssh-copy-id h4'],
  ['me@h4: Permission denied (publickey,password,keyboard-interactive).', 'authenticate', 'never asked for'],
  ['Received disconnect from 10.0.0.4 port 22:2: Too many authentication failures\nDisconnected from 10.0.0.4 port 22',
    'authenticate', 'IdentitiesOnly'],
  ['/home/me/.ssh/config: line 3: Bad configuration option: frob\n'
    + '/home/me/.ssh/config: terminating, 1 bad configuration options',
    'connect', 'configuration'],
  ['Bad owner or permissions on /home/me/.ssh/config', 'connect', 'Correct what'],
  ['unknown option -- Y', 'connect', 'launcherproc.ssh.options'],
  ['something that nobody has heard of', 'connect', 'ssh ended before the login'],
];

suite('ssh: diagnosis', (test) => {
  test('a remedy names the login as it was asked for, and a key by its host alone', () => {
    for (const [lines, remedy] of [
      ['me@h4: Permission denied (publickey).', '(ssh-copy-id you@h4)'],
      ['No ED25519 host key is known for h4', '`ssh you@h4 true`'],
      ['REMOTE HOST IDENTIFICATION HAS CHANGED', 'ssh-keygen -R h4, then `ssh you@h4 true`'],
      ['nobody has heard of it', '`ssh you@h4 true` by hand'],
    ] as const) {
      assert.ok(tell({ user: 'you', lines: [lines] }).includes(remedy), tell({ user: 'you', lines: [lines] }));
    }
    assert.ok(describeWait('connect', { host: 'h4', user: 'you' }).includes('ssh you@h4 true'));
  });

  test('of every sentence: the phase, what it means, the words themselves, the status, what to do', () => {
    for (const [words, phase, part] of TABLE) {
      const error = diagnose({ ...BASE, lines: words.split('\n') });
      assert.equal([error.code, error.host, error.data], ['STCI_LAUNCH_FAILED', 'h4', { phase, status: 255 }], words);
      assert.ok(error.message.startsWith(`phase ${phase}: `) && error.message.includes(part), error.message);
      assert.ok(error.message.includes(words.split('\n').at(-1) as string) && error.message.includes('status 255'));
      assert.match(error.message, /\n {2}what to do: .+/);
      assert.not.match(error.message, /@@@|what to do: .*HOST/);
    }
  });

  test('a login shell that ends: its words, not a guess from them', () => {
    const banner = 'This account is currently not available.\n';
    const message = tell({ phase: 'login shell', end: { status: 1 }, banner });
    assert.match(message, /^phase login shell: the login shell ended/);
    assert.match(message, /the login printed: This account is currently not available\.\n {2}ssh ended with status 1/);
    assert.match(tell({ phase: 'login shell', lines: ['rsync: Connection refused'] }), /^phase login shell/);
  });

  test('node: none, not the named one, too old', () => {
    assert.match(tell({ phase: 'node', report: { phase: 'node', text: 'none' } }), /^phase node: the host has no node/);
    const named = tell({ phase: 'node', report: { phase: 'node', text: 'none' }, node: '/opt/n' });
    assert.match(named, /no program \/opt\/n \(launcher\.ssh\.node\)/);
    const old = tell({ phase: 'node', report: { phase: 'node', text: 'old /usr/bin/node v18.19.0' } });
    assert.match(old, /found \/usr\/bin\/node v18\.19\.0; Node 20 or later is needed/);
    assert.match(old, /--mca launcher\.ssh\.node=PATH/);
  });

  test('a login that prints without end shows how it begins', () => {
    const banner = `hello ${'x'.repeat(90_000)}`;
    const message = tell({ phase: 'login shell', flooded: true, banner, end: { signal: 'SIGKILL' } });
    assert.match(message, /printed too much\.\n {2}the login printed: hello x+…\n/);
    assert.ok(message.length < 1000);
  });
});
