/** From ssh's last lines to what has ended: the lines are those of OpenSSH's client, in each of these ends. */

import { assert, suite } from '@stci/testkit';
import { EndWatch } from '@stci/launcher-ssh';

const SUM = [
  'Transferred: sent 3528, received 3368 bytes, in 0.4 seconds',
  'Bytes per second: sent 9294.9, received 8873.4',
];

const ENDS: Readonly<Record<string, readonly [status: number, lines: readonly string[], evidence: string]>> = {
  'a status of its own': [200, SUM, 'process'],
  'status 0': [0, [], 'process'],
  'kill -9 of the program': [255, SUM, 'process'],
  'kill -9 of its sshd': [255, ['Connection to h1 closed by remote host.', ...SUM], 'connection'],
  'no answer to keepalives': [255, ['Timeout, server h1 not responding.'], 'connection'],
  'a reset': [255, ['client_loop: send disconnect: Broken pipe'], 'connection'],
  'a reset while it read': [255, ['Read from remote host h1: Connection reset by peer', ...SUM], 'connection'],
  'a shared connection': [255, ['mux_client_read_packet: read header failed: Broken pipe'], 'connection'],
  'a client that says nothing': [255, [], 'connection'],
};

suite('ssh: what has ended', (test) => {
  for (const [name, [status, lines, evidence]] of Object.entries(ENDS)) {
    test(name, () => {
      const watch = new EndWatch();
      for (const line of lines) watch.onLine(line);
      assert.is(watch.evidenceOf({ status }), evidence);
    });
  }

  test('a client that is killed', () => assert.is(new EndWatch().evidenceOf({ signal: 'SIGKILL' }), 'connection'));
});
