/** What a program is told that cannot connect; all else is tested with real jobs, in stcirun's tests. */

import { connect, type ClientError } from '@stci/client';
import { assert, suite } from '@stci/testkit';

async function errorOf(env: Readonly<Record<string, string>>): Promise<ClientError> {
  return connect({ env }).then(() => assert.unreachable('it connected'), (error: ClientError) => error) as never;
}

suite('connecting to the session agent', (test) => {
  test('without it: what to write', async () => {
    const { code, message } = await errorOf({ STCI_RANK: '0' });
    assert.is(code, 'STCI_CLIENT_DISABLED');
    assert.match(message, /started without --client.* Write: stcirun --client program/);
  });

  test('where nobody listens any more', async () => {
    const { code, message } = await errorOf({ STCI_CLIENT_SOCKET: '/nowhere.sock', STCI_CLIENT_TOKEN: 'x' });
    assert.is(code, 'STCI_CLIENT_REFUSED');
    assert.match(message, /Cannot connect to the session agent at \/nowhere\.sock: .*ENOENT/);
  });
});
