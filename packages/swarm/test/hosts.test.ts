// @timeoutMs 240000
/** Hosts of a session while it runs: added, lost, started again, with jobs beside. */

import { assert, suite, swarmSeeds } from '@stci/testkit';
import { SimRandom } from '@stci/platform-sim';
import { drawTree, runHosts, type EndedJob, type HostsOptions, type HostsSession } from '@stci/swarm';
import { firstSeed, range, share } from './first-seed.js';

const LINES = 100;

const SEEDS = swarmSeeds('sessions whose hosts change');
const LONG = ['lines', String(LINES), '60', '0.02'] as const;

const optionsOf = (hosts: number, arity: number, seed = 1, more: HostsOptions['settings'] = {}): HostsOptions => {
  const settings = { 'launcher.tree.arity': String(arity), 'bootcom.lease': '4s', ...more };
  return { seed, hosts, hostsMax: 40, settings };
};

/** That of the controller. */
const LOGIN_HOST = 'login';

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

/** Changes for some seconds, then every host again that was lost, and a job on all. */
function changeAtRandom(seed: number): string[] {
  const random = new SimRandom(`hosts ${seed}`);
  const hosts = 1 + random.integer(10);
  const problems: string[] = [];
  const ends = runHosts(optionsOf(hosts, random.pick([1, 2, 3, 8]), seed, drawTree(random)), (one) => {
    const hit = new Set<string>();
    let [next, open] = [hosts, 0];
    const states = (...wanted: readonly string[]): number[] => one.session.hosts
      .filter(({ state }) => wanted.includes(state)).map(({ spec }) => Number(spec.name.slice(1)));
    const onAdded = (outcomes: readonly { name: string; error?: { message: string } | undefined }[]): void => {
      open -= 1;
      for (const { name, error } of outcomes) if (error !== undefined) hit.add(name);
    };
    const add = (some: readonly number[]): void => {
      if (some.length === 0) return;
      open += 1;
      one.add(some, onAdded);
    };
    const changes: readonly (() => void)[] = [
      () => add(upTo(1 + random.integer(Math.min(4, 39 - next)), (next += 4) - 4)),
      () => add(states('failed', 'fenced')),
      () => {
        const host = random.pick(states('up', 'starting', 'suspect', 'orphaned'));
        if (states('up').length > 1 && one.kill(host)) hit.add(`n${host}`);
      },
      () => {
        const host = random.pick(states('up', 'suspect', 'orphaned'));
        const force = random.chance(0.5);
        if (states('up').length < 3) return;
        if (force) hit.add(`n${host}`);
        open += 1;
        one.remove([host], { force, ...(random.chance(0.3) && { timeoutMs: 500 }) }, () => (open -= 1));
      },
      () => {
        open += 1;
        one.submit(random.chance(0.5) ? LONG : ['echo', 'x'.repeat(59)], {}, ({ report, out }) => {
          open -= 1;
          for (const { rank, host, outcome, end } of report.ranks) {
            const isWhole = outcome === 'exited' && end?.status === 0 && (out[rank] ?? '').length % (60 * LINES) <= 60;
            if (!isWhole && !hit.has(host)) problems.push(`rank ${rank} on ${host}: ${outcome}, its host lives`);
          }
        });
      },
    ];
    const attempt = (change: () => void): void => {
      try {
        change();
      } catch (fault) {
        // Between its choice and now a host may have changed.
        open -= 1;
        if (!/already|not one of|No host/u.test(String(fault))) throw fault;
      }
    };
    for (let i = 0; i < 12; i++) one.clock.after(random.between(0, 6000), () => attempt(random.pick(changes)));
    const finish = (): void => {
      const lost = states('failed', 'fenced');
      if (open > 0 || states('suspect', 'orphaned', 'starting').length > 0) return void one.clock.after(1000, finish);
      if (lost.length === 0) return thenAll(one, states('up'));
      add(lost);
      one.clock.after(1000, finish);
    };
    one.clock.after(7000, finish);
  });
  return [...problems, ...ends];
}

suite('hosts of a running session', (test) => {
  test('more hosts: they come up along the tree, and jobs submitted later use them', () => {
    // Arity 0: a tree of any shape.
    for (const [hosts, arity] of [[5, 0], ...share([[1, 8], [1, 1], [3, 2], [5, 3]] as const, 2)] as const) {
      const options = arity === 0 ? optionsOf(hosts, 2, 1, { launcher: 'random' }) : optionsOf(hosts, arity);
      const problems = runHosts(options, (one) => {
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
    for (const victim of share(upTo(9), 3)) {
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
            assert.equal(outcomes, [{ name: `n${victim}`, error: undefined }]);
            assert.equal([one.session.hosts[victim]?.state, one.session.hosts[victim]?.incarnation], ['up', 2]);
          });
        };
        again();
      });
      assert.equal(problems, [], `host ${victim}`);
    }
  }, { timeoutMs: 60_000 });

  test('a host that was cut off is given up, and started again while its former agent may live', () => {
    for (const victim of [0, 1, 2, 7]) {
      for (const again of ['at once', 'later']) {
        const problems = runHosts(optionsOf(9, 2), (one) => {
          one.submit(LONG, {}, ({ report, out }) => {
            const lost = report.ranks.filter(({ outcome }) => outcome !== 'exited').map(({ host }) => host);
            assert.equal(lost, [`n${victim}`]);
            assert.ok(out.every((text, rank) => rank === victim || text.length === 60 * LINES), 'all output');
          });
          const name = `n${victim}`;
          const others = [...one.world.hosts].map((host) => host.name).filter((other) => other !== name);
          let mend = (): void => undefined;
          one.clock.after(500, () => (mend = one.world.partition([name], others)));
          const poll = (): void => {
            if (one.session.hosts[victim]?.state !== 'fenced') return void one.clock.after(10, poll);
            mend();
            one.clock.after(again === 'at once' ? 0 : 20_000, () => one.add([victim], (outcomes) => {
              assert.equal(outcomes, [{ name, error: undefined }]);
              assert.equal([one.session.hosts[victim]?.state, one.session.hosts[victim]?.incarnation], ['up', 2]);
              one.clock.after(30_000, () => thenAll(one, upTo(9)));
            }));
          };
          poll();
        });
        assert.equal(problems, [], `host ${victim}, ${again}`);
      }
    }
  }, { timeoutMs: 60_000 });

  test('a host that is removed gets no more jobs, and leaves when it has none; the agents below it go on', () => {
    for (const victim of share(upTo(9), 3)) {
      const rest = upTo(9).filter((host) => host !== victim);
      const problems = runHosts(optionsOf(9, 2), (one) => {
        let over = 0;
        one.submit(LONG, {}, (job) => {
          over += 1;
          assert.equal([job.report.exitCode, job.report.failures], [0, []]);
          assert.ok(job.out.every((text) => text.length === 60 * LINES));
        });
        one.clock.after(300, () => {
          one.remove([victim], { force: false }, (outcomes) => {
            assert.equal([over, outcomes], [1, [{ name: `n${victim}`, error: undefined }]]);
            assert.is(one.session.hosts[victim]?.state, 'left');
            // While the agents below it are linked to others.
            one.submit(LONG, {}, (job) => {
              assert.equal([job.report.exitCode, job.report.failures], [0, []]);
              assert.equal(job.report.ranks.map(({ host }) => host), rest.map((host) => `n${host}`));
              thenAll(one, rest);
            });
          });
          one.submit(['hostname'], {}, (job) => assert.equal([over, hostsOf(job)], [0, names(rest)]));
        });
      });
      assert.equal(problems, [], `host ${victim}`);
    }
  }, { timeoutMs: 60_000 });

  test('by force at once: its ranks are lost, those of others are not', () => {
    for (const victim of [0, 2, 6]) {
      const problems = runHosts(optionsOf(9, 2), (one) => {
        one.submit(['ignore-term', '100'], { timeoutMs: 20_000 }, ({ report }) => {
          const lost = report.ranks.filter(({ outcome }) => outcome === 'lost').map(({ host }) => host);
          assert.equal(lost, [`n${victim}`]);
          assert.match(report.failures[0]?.message ?? '', `Host n${victim} was removed`);
          assert.is(report.failures[0]?.data?.['removed'], true);
          one.add([victim], (outcomes) => {
            assert.equal(outcomes, [{ name: `n${victim}`, error: undefined }]);
            thenAll(one, upTo(9));
          });
        });
        one.clock.after(300, () => one.remove([victim], { force: true }, (outcomes) => {
          assert.equal(outcomes, [{ name: `n${victim}`, error: undefined }]);
        }));
      });
      assert.equal(problems, [], `host ${victim}`);
    }
  }, { timeoutMs: 60_000 });

  test('a job that ends while an agent has no parent leaves no session agents there', () => {
    // The ranks of all hosts but one end soon; then the agent above some of them is killed.
    const apps = [
      { program: 'true', args: [], env: {}, hosts: [0, ...upTo(7, 2)] },
      { program: 'sleep', args: ['2'], env: {}, hosts: [1] },
    ];
    for (const atMs of share(range(1900, 2200, 10), 6)) {
      const options = optionsOf(9, 2);
      const settings = { ...options.settings, 'launcher.session.method': 'process' };
      const problems = runHosts({ ...options, settings }, (one) => {
        one.submit(['true'], { apps }, () => one.clock.after(8000, () => {
          const agents = one.world.livingProcesses().filter(({ command }) => command[0] === 'stci-agent');
          assert.equal(agents.map(({ host }) => host).sort(), names(upTo(9).filter((host) => host !== 0)));
          one.stop();
        }));
        one.clock.after(atMs, () => assert.ok(one.kill(0)));
      });
      assert.equal(problems, [], `killed at ${atMs}`);
    }
  }, { timeoutMs: 60_000 });

  test('a session agent that is lost while its host is cut off is replaced there at once; its ranks come later', () => {
    const options = optionsOf(3, 8);
    const settings = { ...options.settings, 'launcher.session.method': 'process' };
    const problems = runHosts({ ...options, settings }, (one) => {
      const agents = (): number[] => one.world.livingProcesses()
        .filter(({ host, command }) => host === 'n1' && command[0] === 'stci-agent').map(({ pid }) => pid);
      const apps = [{ program: 'sleep', args: ['3'], env: {}, hosts: [1] }];
      one.submit(['sleep'], { apps, params: { errmgr: ['restart'] } }, ({ report }) => {
        assert.equal([report.exitCode, report.ranks[0]?.host, report.ranks[0]?.earlier?.length], [0, 'n1', 1]);
        one.stop();
      });
      one.clock.after(1000, () => {
        const [root, session] = agents() as [number, number];
        const heal = one.world.partition([LOGIN_HOST, 'n0', 'n2'], ['n1']);
        one.world.killProcess('n1', session);
        one.clock.after(1000, () => {
          const [same, other] = agents();
          assert.is(same, root);
          assert.ok(other !== undefined && other !== session, 'another runs');
          heal();
        });
      });
    });
    assert.equal(problems, []);
  });

  const from = firstSeed();
  test(`hosts are added, removed, killed and started again at any moment: ${SEEDS} seeds from ${from}`, () => {
    const failed: string[] = [];
    for (let seed = from; seed < from + SEEDS; seed++) {
      const problems = changeAtRandom(seed);
      if (problems.length > 0) failed.push(`seed ${seed}: ${problems.slice(0, 3).join('; ')}`);
    }
    assert.equal(failed, []);
  }, { timeoutMs: 120_000 });

  test('a host that is lost is no concern of jobs that have no ranks there', () => {
    const problems = runHosts(optionsOf(9, 2), (one) => {
      const apps = [{ program: 'sleep', args: ['8'], env: {}, hosts: [0, 1] }];
      one.submit(['sleep'], { apps, params: { errmgr: ['abort'] } }, ({ report }) => {
        assert.equal([report.exitCode, report.failures], [0, []]);
        one.stop();
      });
      one.clock.after(1000, () => assert.ok(one.kill(6)));
    });
    assert.equal(problems, []);
  });

  test('what cannot be added or removed', () => {
    const problems = runHosts({ ...optionsOf(3, 2), hostsMax: 3 }, (one) => {
      const text = (change: () => void): string => {
        try {
          change();
          return 'nothing';
        } catch (error) {
          return (error as Error).message;
        }
      };
      const none = (): void => assert.unreachable('nothing was asked for');
      assert.equal([
        text(() => one.add([4, 1], none)),
        text(() => one.remove([7], { force: true }, none)),
        text(() => one.remove([0, 1, 2], { force: true }, none)),
      ], [
        'Host n1 is in the session already.',
        "Host n7 is not one of the session's. Did you mean n0 or n1 or n2?",
        "No host of the session would be left. 'stci stop' ends it.",
      ]);
      one.submit(['sleep', '30'], {}, () => one.stop());
      one.clock.after(1000, () => one.remove([1], { force: false, timeoutMs: 2000 }, ([outcome]) => {
        assert.match(outcome?.error?.message ?? '', /^Host n1 stays: after 2 s it still has ranks of job 1\./u);
        assert.equal(one.session.hosts.map(({ isDraining }) => isDraining), [false, false, false]);
        // No such host in this world.
        one.add([9], ([failed]) => {
          assert.match(failed?.error?.message ?? '', /^Agent root:3 on host n9 did not come up: /u);
          assert.is(one.session.hosts[3]?.state, 'failed');
          one.remove([9], { force: false }, (gone) => assert.equal(gone, [{ name: 'n9', error: undefined }]));
        });
      }));
    });
    assert.equal(problems, []);
  });
});
