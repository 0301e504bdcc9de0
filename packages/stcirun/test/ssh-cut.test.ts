/**
 * Hosts that end without a sign: cut off, their interface down, without power, frozen. Each is told within the lease and
 * half of it, whoever its parent is.
 */
// @timeoutMs 240000
// @sameFor user, node: core decides; ssh is as in ssh-hosts.

import { assert, eventually, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';
import { Job, LoginSide } from './ssh-jobs.js';

const why = whyNoHosts();
const LONG = { timeoutMs: 120_000 };
const HOSTS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8'];

/** By host, how it ends; h5 to h8 have h1 to h4 as parents in a tree of arity 4, the controller in a flat one. */
const WAYS: Readonly<Record<string, (hosts: Hosts, host: string) => Promise<unknown>>> = {
  h5: (hosts, host) => hosts.cut(host),
  h6: (hosts, host) => hosts.runOn(host, ['ip', 'link', 'set', 'eth0', 'down']),
  h7: async (hosts, host) => {
    await hosts.cut(host);
    await hosts.kill(host);
  },
  h8: (hosts, host) => hosts.freeze(host),
};

/** A running job, one rank a host; times of lost ranks by host, ms. */
class Watched {
  readonly job: Job;
  readonly lostMs = new Map<string, number>();
  readonly leaseMs: number;
  started = 0;
  #read = 0;

  constructor(login: LoginSide, leaseMs: number, ...options: readonly string[]) {
    this.leaseMs = leaseMs;
    this.job = login.start('--launcher', 'ssh', '--host', HOSTS.join(), '-n', String(HOSTS.length), '--json',
      '--mca', `bootcom.lease=${leaseMs}ms`, '--on-failure', 'continue', ...options, '--stdin', 'all', 'cat');
    this.job.child.stdout?.on('data', () => this.#onLines());
  }

  #onLines(): void {
    for (const line of this.job.lines.slice(this.#read)) {
      this.#read += 1;
      const event = JSON.parse(line) as { type: string; rank?: number; cause?: string };
      if (event.type === 'started') this.started += 1;
      else if (event.type === 'exited') this.lostMs.set(HOSTS[event.rank as number] as string, performance.now());
    }
  }
}

suite('hosts that are lost without a sign', (test) => {
  test.skipIf(why !== undefined, why ?? '', 'are told within the lease and half of it', async () => {
    const hosts = await up(HOSTS.length);
    try {
      const login = new LoginSide(hosts);
      const all = [
        new Watched(login, 3000, '--mca', 'launcher=flat'),
        new Watched(login, 3000, '--mca', 'launcher.tree.arity=4'),
        new Watched(login, 10_000, '--mca', 'launcher.tree.arity=4'),
        new Watched(login, 30_000, '--mca', 'launcher=flat'),
      ];
      for (const each of all) {
        await eventually(() => each.started === HOSTS.length || each.job.code !== undefined,
          { deadlineMs: 60_000, what: 'all ranks' });
        assert.is(each.job.code, undefined, each.job.err);
      }
      await Promise.all(Object.entries(WAYS).map(([host, lose]) => lose(hosts, host)));
      const atMs = performance.now();
      const losses = Object.keys(WAYS).length;
      for (const { job, lostMs, leaseMs } of all) {
        await eventually(() => lostMs.size === losses, { deadlineMs: 4 * leaseMs, what: `the end of ${losses} ranks` });
        job.child.stdin?.end();
      }
      for (const { job, lostMs, leaseMs } of all) {
        assert.equal([...lostMs.keys()].filter((host) => host in WAYS).sort(), Object.keys(WAYS), job.err);
        for (const host of Object.keys(WAYS)) {
          const ms = (lostMs.get(host) as number) - atMs;
          assert.ok(ms <= 1.5 * leaseMs, `${host}, lease ${leaseMs} ms: told after ${Math.round(ms)} ms`);
        }
        await job.ended();
      }
    } finally {
      await hosts.down();
    }
  }, LONG);
});
