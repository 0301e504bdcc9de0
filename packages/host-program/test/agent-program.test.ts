/** The program of agents that wait, run by a node of this machine: where it has its agent listen. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitProgram } from '@stci/host-program';
import { assert, suite } from '@stci/testkit';

const RUN_FIRST_ARGUMENT = 'eval(String(Buffer.from(process.argv[1],process.argv[2])))';
const AGENT = 'console.log(JSON.stringify(stciShipped.waits.interfaces)); process.exit(0);\n';
const HASH = createHash('sha256').update(AGENT).digest('hex');

/** The interfaces of an agent on a host that has these addresses. */
function listensAt(addresses: readonly string[], interfaces: readonly string[] = []): unknown {
  const home = mkdtempSync(join(tmpdir(), 'stci-wait-'));
  try {
    const cache = join(home, '.cache/stci');
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    writeFileSync(join(cache, `agent-${HASH}.cjs`), AGENT, { mode: 0o600 });
    const entries = addresses.map((address) =>
      ({ address, family: address.includes(':') ? 'IPv6' : 'IPv4', internal: false, cidr: `${address}/24` }));
    const preload = join(home, 'addresses.cjs');
    writeFileSync(preload, `require('os').networkInterfaces = () => ({ eth0: ${JSON.stringify(entries)} });`);
    const words = ['utf8', 'feed', HASH, String(AGENT.length), '30000', process.execPath, '', ''];
    const run = spawnSync(process.execPath, [
      '--require', preload, '-e', RUN_FIRST_ARGUMENT, '--', waitProgram({ interfaces }), ...words,
    ], { encoding: 'utf8', input: `${'ab'.repeat(32)}\n`, env: { HOME: home, PATH: '/usr/bin:/bin' } });
    const told = run.stdout.split('\n').find((line) => line.startsWith('['));
    assert.ok(told !== undefined, run.stdout + run.stderr);
    return JSON.parse(told);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

suite('host-program: where an agent waits', (test) => {
  test('at all addresses of the host that can be bound', () => {
    assert.equal(listensAt(['127.0.0.2', '192.0.2.1', '127.0.0.3', '2001:db8::1']), ['127.0.0.2', '127.0.0.3']);
    assert.equal(listensAt(['192.0.2.1']), ['127.0.0.1']);
    assert.equal(listensAt([]), ['127.0.0.1']);
  });

  test('at those that are named, whatever they are', () => {
    assert.equal(listensAt(['127.0.0.2'], ['192.0.2.1', 'ib0']), ['192.0.2.1', 'ib0']);
  });
});
