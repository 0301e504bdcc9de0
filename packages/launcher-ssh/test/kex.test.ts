/** A key exchange that takes most of a login, as OpenSSH 9.2 reports its steps. */

import { KexTimer, kexAdvice, type KeyExchange } from '@stci/launcher-ssh';
import { assert, suite } from '@stci/testkit';

/** `at`: when the keys are agreed, and when the user is in, in ms after the client's start at 100. */
function login(algorithm: string, at: readonly [number, number]): KeyExchange | undefined {
  const timer = new KexTimer(100);
  const steps: readonly (readonly [number, string])[] = [
    [0, 'debug1: Connection established.'],
    [10, 'debug1: SSH2_MSG_KEXINIT sent'],
    [11, 'debug1: SSH2_MSG_KEXINIT received'],
    [12, `debug1: kex: algorithm: ${algorithm}`],
    [12, 'debug1: kex: host key algorithm: ssh-ed25519'],
    [at[0], 'debug1: SSH2_MSG_NEWKEYS received'],
  ];
  for (const [ms, line] of steps) assert.is(timer.onLine(line, 100 + ms), undefined);
  return timer.onLine('Authenticated to h1 ([10.0.0.1]:22) using "publickey".', 100 + at[1]);
}

suite('ssh: key exchange', (test) => {
  test('its share of the login is told, with what to do', () => {
    const exchange = login('sntrup761x25519-sha512', [170, 245]);
    assert.equal(exchange, { algorithm: 'sntrup761x25519-sha512', ms: 160, loginMs: 245 });
    assert.match(kexAdvice(exchange as KeyExchange) ?? '', /sntrup761.* takes most .*ssh\.kex=curve25519-sha256/);
  });

  test('nothing is advised where it is a small part, or where nothing cheaper is left', () => {
    assert.is(kexAdvice(login('sntrup761x25519-sha512', [60, 145]) as KeyExchange), undefined);
    assert.is(kexAdvice(login('curve25519-sha256@libssh.org', [170, 245]) as KeyExchange), undefined);
  });

  test('a client that shares a connection makes none', () => {
    assert.is(new KexTimer(0).onLine('Authenticated to h1 (via proxy) using "publickey".', 5), undefined);
  });
});
