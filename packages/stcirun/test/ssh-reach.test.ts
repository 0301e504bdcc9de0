/** launcherproc ssh over real ssh on test hosts; the suites are those of ssh-reach.ts, run on the login side. */
// @timeoutMs 120000

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';

const why = whyNoHosts();
const SUITES = fileURLToPath(new URL('ssh-reach.js', import.meta.url));

const running = (hosts: Hosts): string =>
  [...hosts.allLeftovers()].map(([host, all]) => `${host}: ${all.map(({ command }) => command).join('; ')}`).join('; ');

suite('launcherproc ssh on test hosts', (test) => {
  test.skipIf(why !== undefined, why ?? '', 'reach and evidence', async () => {
    const hosts = await up(2, { traits: { h2: ['silent'] } });
    try {
      // Sockets in a directory of their own: a 'stci doctor --clean' of another test connects to each in the usual one
      // that its network does not know, and would be taken for the one that reaches an agent.
      const runtime = join(hosts.loginHome, 'runtime');
      mkdirSync(runtime, { mode: 0o700 });
      const env = { XDG_RUNTIME_DIR: runtime };
      const { code, stdout, stderr } = await hosts.run([process.execPath, SUITES], { env });
      assert.is(code, 0, stdout + stderr);
      await eventually(() => running(hosts) === '', { what: 'nothing is left on h1' })
        .catch((error: unknown) => assert.unreachable(`${String(error)}: ${running(hosts)}`));
    } finally {
      await hosts.down();
    }
  }, { timeoutMs: 110_000 });
});
