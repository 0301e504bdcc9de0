/** A start by a step of a real Slurm: what admits to its agents is in no command line, environment or output. */
// @timeoutMs 120000

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { up, whyNoSlurm } from '@stci/testkit/hosts';
import { SPY, looks, searchProcesses, show } from './secret-spy.js';

const PROGRAM = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const why = whyNoSlurm();
const { secrets } = createNodePlatform();

suite('secrets of a start by Slurm', (test) => {
  test.skipIf(why !== undefined, why ?? '', 'are in no command line, no environment, no output', async () => {
    const hosts = await up(2, { slurm: true });
    const place = mkdtempSync(join(tmpdir(), 'stci-slurm-secret-'));
    try {
      const [spy, file, go] = [join(place, 'spy.cjs'), join(place, 'secrets'), join(place, 'go')];
      writeFileSync(spy, SPY(file));
      const tool = `env; touch ${place}/up.$STCI_RANK; until [ -e ${go} ]; do sleep 0.1; done; exit 3`;
      const env = { XDG_CACHE_HOME: place, STCI_DEBUG: '1', STCI_MCA_session_directory: join(place, 'sessions') };
      const node = [process.execPath, '--require', spy, PROGRAM, '--verbose', '--exit-report', 'sh', '-c', tool];
      const ran = hosts.run(['salloc', '--quiet', '-N2', ...node], { env, deadlineMs: 60_000 });
      const isUp = (): boolean => ['0', '1'].every((rank) => existsSync(join(place, `up.${rank}`)));
      await eventually(isUp, { deadlineMs: 30_000, what: 'both ranks' });
      const drawn = readFileSync(file, 'utf8').trim().split('\n').map((hex) => Buffer.from(hex, 'hex'));
      assert.is(drawn.length, 2, 'one secret of the session, one of the start');
      const keys = drawn.flatMap((secret) => ['h1', 'h2'].map((host) => secrets.mac(secret, Buffer.from(host))));
      const needles = [...drawn, ...keys].flatMap(looks);
      const { found, count } = searchProcesses(needles);
      assert.ok(count > 8, 'stcirun, srun, agents and tools are among the processes');
      writeFileSync(go, '');
      const { code, stdout, stderr } = await ran;
      assert.is(code, 3, stderr);
      assert.match(stdout, 'SLURM_JOB_ID=');
      found.push(...show(needles, 'output', Buffer.from(stdout + stderr)));
      assert.equal(found, []);
    } finally {
      await hosts.down();
      rmSync(place, { recursive: true });
    }
  }, { timeoutMs: 100_000 });
});
