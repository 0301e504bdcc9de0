// @timeoutMs 240000
/** Hosts of a session while it runs: added, lost, started again, with jobs beside. */

import { assert, suite } from '@stci/testkit';
import { runHosts, type EndedJob, type HostsOptions, type HostsSession } from '@stci/swarm';

const LINES = 100;
const LONG = ['lines', String(LINES), '60', '0.02'] as const;

const optionsOf = (hosts: number, arity: number, seed = 1): HostsOptions => {
  const settings = { 'launcher.tree.arity': String(arity), 'bootcom.lease': '4s' };
  return { seed, hosts, hostsMax: 40, settings };
};

/** Names of hosts by a job with a rank on each. */
function hostsOf({ report, out }: EndedJob): string[] {
  assert.equal([report.exitCode, report.failures], [0, []]);
  return out.map((text) => text.trim()).sort();
}

const names = (hosts: readonly number[]): string[] => hosts.map((host) => `n${host}`).sort();
const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, i) => from + i);

/** A script that ends by a job on all hosts, which are then those expected. */
function thenAll(one: HostsSession, expected: readonly number[]): void {
  one.submit(['hostname'], {}, (job) => {
    assert.equal(hostsOf(job), names(expected));
    one.stop();
  });
}

suite('hosts of a running session', (test) => {
  test('more hosts: they come up along the tree, and jobs submitted later use them', () => {
    for (const [hosts, arity] of [[1, 8], [1, 1], [3, 2], [5, 3]] as const) {
      const problems = runHosts(optionsOf(hosts, arity), (one) => {
        let before: EndedJob | undefined;
        one.submit(LONG, {}, (job) => (before = job));
        one.add(upTo(30, hosts), (outcomes) => {
          assert.equal(outcomes.filter(({ error }) => error !== undefined), []);
          const states = one.session.hosts.map(({ state, incarnation }) => `${state} ${incarnation}`);
          assert.equal(states, Array(30 + hosts).fill('up 1'));
          one.clock.after(10_000, () => {
            assert.equal([before?.report.exitCode, before?.report.ranks.length], [0, hosts]);
            thenAll(one, upTo(30 + hosts));
          });
        });
      });
      assert.equal(problems, [], `${hosts} hosts, arity ${arity}`);
    }
  }, { timeoutMs: 60_000 });

  test('a host that is lost is started again as another incarnation; its ranks are not', () => {
    for (const victim of upTo(9)) {
      const problems = runHosts(optionsOf(9, 2), (one) => {
        one.submit(LONG, {}, ({ report, out }) => {
          const lost = report.ranks.filter(({ outcome }) => outcome !== 'exited').map(({ host }) => host);
          assert.equal(lost, [`n${victim}`]);
          assert.ok(out.every((text, rank) => rank === victim || text.length === 60 * LINES), 'all output');
          thenAll(one, upTo(9));
        });
        one.clock.after(300, () => assert.ok(one.kill(victim)));
        const again = (): void => {
          const host = one.session.hosts[victim];
          if (host?.state !== 'failed') return void one.clock.after(100, again);
          one.add([victim], (outcomes) => {
            assert.equal(outcomes, [{ name: `n${victim}` }]);
            assert.equal([one.session.hosts[victim]?.state, one.session.hosts[victim]?.incarnation], ['up', 2]);
          });
        };
        again();
      });
      assert.equal(problems, [], `host ${victim}`);
    }
  }, { timeoutMs: 60_000 });
});
