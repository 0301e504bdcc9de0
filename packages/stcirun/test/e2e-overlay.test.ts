/** Overlays on real processes: what is refused, which links there are, and a session whose inner agents die. */
// @timeoutMs 240000
// @sameFor user, node: core decides; sockets and processes are platform-node's and e2e-run's.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { run, sh, start } from './e2e.js';
import { LONG, soon, withPlace } from './e2e-place.js';

type Event = Readonly<Record<string, unknown>>;

function eventsOf(file: string): Event[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as Event);
}

interface Shown {
  readonly overlay: string;
  readonly agents: readonly {
    readonly agent: string;
    readonly links: readonly { readonly peer: string; readonly role: string; readonly roundTripMs?: number }[];
  }[];
}

suite('overlays', (test) => {
  test('a topology, detector or notifier that does not fit, no interface: refused with what is right', async () => {
    const six = ['--launcher', 'local', '--host', 'a,b,c', '-n', '3'];
    const refused = async (...args: string[]): Promise<string> => {
      const { exitCode, err, out } = await run([...args, 'true']);
      assert.equal([exitCode, out], [194, '']);
      return err;
    };
    assert.match(await refused(...six, '--overlay', 'bmgg'), /Unknown topology component "bmgg"\. Did you mean bmg\?/);
    assert.match(await refused(...six, '--overlay', 'tree:arty=3'), /topology tree: unknown option: expected one of/);
    assert.match(await refused(...six, '--overlay', 'bmg:'), /topology "bmg:": expected an option behind the colon/);
    const detector = (...settings: string[]): Promise<string> =>
      refused(...six, ...settings.flatMap((setting) => ['--mca', setting]));
    const late = await detector('detector=ring', 'detector.ring.timeout=100ms');
    assert.match(late, /detector\.ring\.timeout = 100 ms is not longer than detector\.ring\.period = 500 ms/);
    assert.match(await detector('detector=ring', 'detector.ring.notifier=bgm'),
      /detector\.ring\.notifier = 'bgm': Unknown notifier component "bgm"\. Did you mean bmg\?/);
    assert.match(await detector('detector=mesh', 'detector.mesh.topology=msh'),
      /detector\.mesh\.topology = 'msh': Unknown topology component "msh"\. Did you mean mesh\?/);
    for (const more of [[], ['detector=ring']]) {
      assert.match(await detector(...more, 'notifier.tree.topology=tre'), /: notifier\.tree\.topology = 'tre': /);
    }
    assert.match(await detector('notifier.tree.topology=mesh:dimensions=2x3'),
      /: notifier\.tree\.topology = 'mesh:dimensions=2x3': .*expected a product of 4/);
    assert.match(await refused(...six, '--dry-run', '--overlay', 'bmgg'),
      /: command line \(--overlay bmgg\): overlay\.topology = 'bmgg': /);
    const remote = ['--host', 'a,b,c', '--launcher', 'ssh', '-n', '3', '--overlay', 'bmg'];
    assert.match(await refused(...remote), /bootcom\.ws\.interface names no interface/);
  });

  test('a host for which the topology of a notifier has no place is refused', withPlace(async (place) => {
    place.start('fixed', '--mca', 'notifier.tree.topology=mesh:dimensions=3x1');
    const { exitCode, err } = await place.later('add-hosts', 'c', '--session', 'fixed');
    assert.is(exitCode, 194, err);
    assert.match(err, /notifier\.tree\.topology = 'mesh:dimensions=3x1': .*expected a product of 4/);
  }), LONG);

  test('hosts that join a session are linked in its overlay; one that leaves is not', withPlace(async (place) => {
    place.start('grown', '--overlay', 'bmg');
    const topology = (): Shown => JSON.parse(place.stci('topology', 'grown', '--json').out) as Shown;
    const pairs = (): string => topology().agents.flatMap(({ agent, links }) =>
      links.filter(({ role, peer }) => role === 'overlay' && agent < peer).map(({ peer }) => `${agent}-${peer}`),
    ).join();
    await soon(() => pairs() === 'root:0-root:1', 'the link of the two');
    assert.is(place.stci('add-hosts', 'c,d,e', '--session', 'grown').exitCode, 0);
    // Six positions: each is linked with all others but the one opposite.
    const links = '0-1 0-2 0-4 1-2 1-3 2-3 2-4 3-4';
    const all = (): string => topology().agents.flatMap(({ agent, links: own }) =>
      own.filter(({ peer }) => peer.startsWith('root:') && agent.startsWith('root:') && agent < peer)
        .map(({ peer }) => `${agent}-${peer}`.replaceAll('root:', ''))).sort().join(' ');
    await soon(() => all() === links, 'the links of all');
    assert.is(place.stci('remove-hosts', 'd', '--session', 'grown').exitCode, 0);
    await soon(() => !pairs().includes('root:3'), 'no link to it');
    const { out } = await place.run('grown', ['--ppn', '1', ...sh('echo $STCI_HOST')]).result;
    assert.equal(out.trim().split('\n').sort(), ['a', 'b', 'c', 'e']);
  }), LONG);

  test('stci topology: each link of the overlay beside the tree; inner agents die, and jobs of the others go on',
    withPlace(async (place) => {
      const file = join(place.directory, 'events');
      place.start('night', '--host', 'c,d,e,f', '--overlay', 'bmg', '--events', file,
        '--mca', 'launcher.tree.arity=1');
      const shown = (): Shown => JSON.parse(place.stci('topology', 'night', '--json').out) as Shown;
      const roles = (): string[] => shown().agents.flatMap(({ links }) => links.map(({ role }) => role));
      await soon(() => roles().filter((role) => role === 'overlay').length === 30, 'all links');
      const { overlay, agents } = shown();
      assert.equal([overlay, agents.length], ['bmg', 7]);
      assert.ok(agents.every(({ links }) => links.every(({ roundTripMs }) => (roundTripMs ?? -1) >= 0)));
      assert.match(place.stci('topology').out, /^night: 7 agents, 21 links, overlay bmg\n +agent +host +peer +role/);
      const pids = await place.agents('night');
      const line = 'echo $STCI_HOST; read x; echo $STCI_HOST';
      const job = place.run('night', ['--ppn', '1', '--stdin', 'all', '--on-failure', 'continue', ...sh(line)],
        { input: 'open' });
      await soon(() => job.out().length === 12, 'all ranks');
      for (const host of ['b', 'd']) process.kill(pids.get(host) as number, 'SIGKILL');
      job.child.stdin?.end('go\n');
      const { out } = await job.result;
      assert.equal(out.split('\n').sort().join(''), 'aabccdeeff');
      const lost = (): string => eventsOf(file).filter(({ type }) => type === 'failure-record')
        .map(({ hostName }) => String(hostName)).sort().join('');
      await soon(() => lost() === 'bd', 'both records');
      const linked = eventsOf(file).filter(({ change }) => change === 'linked');
      assert.equal([...new Set(linked.map(({ host }) => host))].sort(), ['c', 'e']);
    }), LONG);

  test('a lost host is told once where the job goes on: by its record', withPlace(async () => {
    const job = start(['--launcher', 'local', '--host', 'a,b,c', '--mca', 'detector=ring', '--on-failure', 'continue',
      '--stdin', 'all', ...sh('echo $STCI_RANK $PPID; read x')], { input: 'open' });
    await soon(() => job.out().split('\n').length === 4, 'all ranks');
    process.kill(Number(/^1 (\d+)$/mu.exec(job.out())?.[1]), 'SIGKILL');
    await soon(() => job.err().includes('Ranks lost: 1.'), 'the record');
    job.child.stdin?.end('go\n');
    const { err } = await job.result;
    const [told = '', left, ...more] = err.trimEnd().split('\n');
    assert.match(told, /^stcirun: .* host b .*Found by link at .*Then: continue: the job goes on; /u);
    assert.match(left ?? '', /^stcirun: programs on b may still run/u);
    assert.equal(more, []);
  }), LONG);

  test('a host that falls silent: one paragraph with all that is known, the same in the file and the report',
    withPlace(async (place) => {
      const [events, report] = [join(place.directory, 'events'), join(place.directory, 'report')];
      place.start('night', '--host', 'c', '--overlay', 'bmg', '--mca', 'detector=ring', '--events', events);
      // One that never heard its neighbour allows for a slow start.
      const heartbeats = (): number[] => [...place.stci('metrics', 'night', '--by-agent').out
        .matchAll(/^stci_detector_heartbeats_total\{[^}]*\} (\d+)$/gmu)].map(([, count]) => Number(count));
      await soon(() => heartbeats().filter((count) => count >= 2).length === 4, 'heartbeats of all');
      const job = place.run('night', ['--ppn', '1', `--exit-report=json:${report}`,
        ...sh('echo $STCI_RANK $PPID; exec sleep 100')]);
      await soon(() => job.out().split('\n').length === 4, 'all ranks');
      process.kill(Number(/^1 (\d+)$/mu.exec(job.out())?.[1]), 'SIGSTOP');
      const { exitCode, err } = await job.result;
      assert.is(exitCode, 200);
      const [told, ...more] = err.trimEnd().split('\n') as [string, ...string[]];
      assert.is(more.length, 1);
      assert.match(more.join(), /^stcirun: programs on b may still run/u);
      assert.match(told, /^stcirun: host b failed: no heartbeat for \d+ ms\. Found by ring at root:\d/u);
      assert.match(told, /, at most [45][\d.]* m?s after it failed, suspected \d+ ms before, promised 4\.5 s to 5 s,/u);
      assert.match(told, /, 2 agents told within \d/u);
      assert.match(told, /\. Ranks lost: 1\. Then: abort: the job is ended/u);
      const found = eventsOf(events);
      const changes = found.flatMap(({ change, host }) => (change === undefined ? [] : [`${host} ${change}`]));
      assert.equal(changes, ['b suspected']);
      const { at, monotonicMs, type, ...record } = found.find((one) => one['type'] === 'failure-record') ?? {};
      assert.ok(typeof at === 'string' && typeof monotonicMs === 'number' && type === 'failure-record');
      assert.equal((JSON.parse(readFileSync(report, 'utf8')) as Event)['failureRecords'], [record]);
    }), LONG);

  test('agents that are killed: their failures are told, and no messages that had no way to them', async () => {
    const line = 'case $STCI_RANK in 0|3) kill -9 $PPID;; esac; sleep 2';
    const { exitCode, err } = await run(['--launcher', 'local', '--host', 'a,b,c,d,e,f', '--overlay', 'bmg',
      '--mca', 'detector=mesh', '--mca', 'launcher.tree.arity=2', '--on-failure', 'continue', ...sh(line)]);
    assert.is(exitCode, 200);
    for (const host of 'ad') assert.match(err, new RegExp(`ost ${host} is (?:lost|cut off)`, 'u'));
    assert.ok(!/STCI_|stci warn/u.test(err), err);
  }, LONG);
});
