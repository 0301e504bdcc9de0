/**
 * Hosts that end without a sign: cut off, their interface down, without power, frozen. Each is told within the lease
 * and half of it, and within two leases with a host above it. And what a killed stcirun leaves.
 */
// @timeoutMs 240000
// @sameFor user, node: core decides; ssh is as in ssh-hosts.

import { assert, eventually, patient, suite } from '@stci/testkit';
import { LOGIN, up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';
import { Job, LoginSide } from './ssh-jobs.js';

const why = whyNoHosts();
const LONG = { timeoutMs: 120_000 };
/** What the news may wait for a processor: a lease counts no time in which its agent does not run. */
const BUSY_MS = patient(500);
const HOSTS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8'];

/** By host, how it ends. */
const WAYS: Readonly<Record<string, (hosts: Hosts, host: string) => Promise<unknown>>> = {
  h5: (hosts, host) => hosts.cut(host),
  h6: (hosts, host) => hosts.unplug(host),
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

  /** How many hosts above it are lost as well. */
  readonly above: (host: string) => number;

  constructor(login: LoginSide, leaseMs: number, tree: 'flat' | 'below h1' | 'chain') {
    this.leaseMs = leaseMs;
    this.above = (host) => (tree === 'chain' ? Object.keys(WAYS).indexOf(host) : 0);
    const options = tree === 'flat' ? 'launcher=flat' : `launcher.tree.arity=${tree === 'chain' ? 1 : 4}`;
    this.job = login.start('--launcher', 'ssh', '--host', HOSTS.join(), '-n', String(HOSTS.length), '--json',
      '--mca', `bootcom.lease=${leaseMs}ms`, '--on-failure', 'continue', '--mca', options, '--stdin', 'all', 'cat');
    this.job.child.stdout?.on('data', () => this.#onLines());
  }

  /** Waits until the loss of each of these hosts is told; an error, with what the job said, if others are, too. */
  async hasLost(hosts: readonly string[]): Promise<void> {
    const missing = (): string[] => hosts.filter((host) => !this.lostMs.has(host));
    const told = (): string => `told: ${[...this.lostMs.keys()].join(', ')}\n${this.job.err}`;
    await eventually(() => missing().length === 0 || this.job.code !== undefined,
      { deadlineMs: 4 * this.leaseMs, what: `the end of ${hosts.length} ranks, lease ${this.leaseMs} ms` })
      .catch((error: unknown) => assert.unreachable(`${String(error)}; ${told()}`));
    assert.equal([...this.lostMs.keys()].sort(), hosts, told());
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
        new Watched(login, 3000, 'flat'),
        new Watched(login, 3000, 'below h1'),
        new Watched(login, 10_000, 'chain'),
        new Watched(login, 30_000, 'below h1'),
      ];
      for (const each of all) {
        await eventually(() => each.started === HOSTS.length || each.job.code !== undefined,
          { deadlineMs: 60_000, what: 'all ranks' });
        assert.is(each.job.code, undefined, each.job.err);
      }
      await Promise.all(Object.entries(WAYS).map(([host, lose]) => lose(hosts, host)));
      const atMs = performance.now();
      for (const each of all) {
        await each.hasLost(Object.keys(WAYS));
        each.job.child.stdin?.end();
      }
      for (const { job, lostMs, leaseMs, above } of all) {
        for (const host of Object.keys(WAYS)) {
          const ms = (lostMs.get(host) as number) - atMs;
          const boundMs = (above(host) === 0 ? 1.5 : 2 + above(host) / 10) * leaseMs + BUSY_MS;
          assert.ok(ms <= boundMs, `${host}, lease ${leaseMs} ms: told after ${Math.round(ms)} ms`);
        }
        await job.ended();
      }
    } finally {
      await hosts.down();
    }
  }, LONG);

  test.skipIf(why !== undefined, why ?? '', 'leave no ssh behind when stcirun is killed meanwhile', async () => {
    const hosts = await up(1);
    try {
      const [leaseMs, argv] = [3000, ['--mca', 'bootcom.lease=3s', '--json', 'sleep', '1000']];
      const job = new LoginSide(hosts).start('--launcher', 'ssh', '--host', 'h1', ...argv);
      await job.has(1, /"started"/);
      await hosts.cut('h1');
      job.child.kill('SIGKILL');
      const left = (): string => hosts.leftovers(LOGIN).map(({ command }) => command).join('; ');
      const deadlineMs = 2 * leaseMs + 2000; // ssh counts whole seconds.
      await eventually(() => left() === '', { deadlineMs, what: 'the end of ssh' })
        .catch((error: unknown) => assert.unreachable(`${String(error)}: ${left()}`));
    } finally {
      await hosts.down();
    }
  }, LONG);
});
