/** Whole simulated jobs that grow: a service of the test asks for ranks, as one does for a program that spawns some. */

import { caught, type Rank, type ServiceModule, type Spawn, type SpawnedApp } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { ControllerPlace, JobAtController, Service } from '../../dist/service/contracts.js';
import { Loadable } from '../../dist/service/loadable.js';
import { HOSTS, open, ranksOf, type Job } from '../agent/open-session.js';

const nothing = (): void => undefined;

/** A session, and what asks for ranks of its jobs. */
function play(settings: Parameters<typeof open>[0] = {}, service?: ServiceModule) {
  let place: ControllerPlace | undefined;
  const code = new Loadable<object>('the test', () => Promise.reject(new Error('it is here')));
  code.provide({ controller: (given: ControllerPlace) => ((place = given), { stop: nothing }) });
  const spawner: Service = {
    name: 'spawner', messages: { controller: ['agent.echo'] }, isOfAgents: () => true, code,
  };
  const session = open(settings, undefined, {
    agentServices: [spawner], slotsBound: true, ...(service && { service }),
  });
  const ask = (apps: readonly SpawnedApp[], job = 1, parent: Rank = 0): Spawn | string | undefined => {
    let answer: Spawn | string | undefined = 'the job is over';
    const make = (of: JobAtController) => ({ of, onEnded: nothing, onRestarting: nothing, onHostLost: nothing });
    const { of } = place?.jobOf(job)?.service('test', make) ?? {};
    of?.spawn({ parent, apps }, (spawn, problem) => (answer = spawn ?? problem));
    return answer;
  };
  return { ...session, ask };
}

const app = (count: number, command: string, more: Partial<SpawnedApp> = {}): SpawnedApp => {
  const [program = '', ...args] = command.split(' ');
  return { program, args, env: {}, count, ...more };
};

/** `rank host app outcome status` of each. */
const endsOf = ({ report }: Job): string[] => report?.ranks.map(({ rank, host, app: of, outcome, end }) =>
  `${rank} ${host} ${of} ${outcome} ${end?.status ?? end?.signal ?? ''}`) ?? [];

const isRunning = ({ events }: Job, rank: Rank, attempt = 1): boolean => events.some((event) =>
  event.type === 'started' && event.rank === rank && (event.attempt ?? 1) === attempt);

suite('jobs that grow', (test) => {
  test('ranks on hosts with and without an agent of the job: their output, ends and numbers', () => {
    const { begin, until, ask, end } = play();
    const job = begin(2, ['sleep', '1']);
    until(() => isRunning(job, 0) && isRunning(job, 1), 'the first');
    const apps = [app(3, 'env', { env: { OWN: 'x' }, wdir: '/' }), app(1, 'exit 3 0.2')];
    assert.equal(ask(apps, 1, 1), { parent: 1, first: 2, count: 4, app: 1 });
    assert.equal(ranksOf(job), [2, 2, 1, 1]);
    until(() => job.report !== undefined, 'the end');
    assert.equal(endsOf(job), [
      '0 h0 0 exited 0', '1 h1 0 exited 0', '2 h2 1 exited 0', '3 h3 1 exited 0', '4 h0 1 exited 0', '5 h1 2 exited 3',
    ]);
    assert.equal([job.report?.exitCode, job.report?.cause?.rank], [3, 5]);
    const own = (rank: Rank): string[] => job.output.get(rank)?.split('\n')
      .filter((line) => /^OWN|^STCI_(?:RANK|SIZE|APP|LOCAL_RANK|NODE|NODES|HOST)=/u.test(line)) ?? [];
    assert.equal(own(3), ['OWN=x', 'STCI_APP=1', 'STCI_HOST=h3', 'STCI_LOCAL_RANK=0', 'STCI_NODE=3', 'STCI_NODES=4',
      'STCI_RANK=3', 'STCI_SIZE=6']);
    assert.equal(own(4).slice(3, 6), ['STCI_LOCAL_RANK=1', 'STCI_NODE=0', 'STCI_NODES=4']);
    const spawned = job.events.map((event) => (event.type === 'mapped' ? event.spawned?.first : undefined));
    assert.equal(spawned.filter((first) => first !== undefined), [2]);
    assert.is(ask(apps), 'the job is over');
    end();
  });

  test('a job runs until those that were spawned have ended, and those that these have spawned', () => {
    const { begin, until, ask, end } = play();
    const job = begin(1, ['sleep', '0.1']);
    until(() => isRunning(job, 0), 'the first');
    ask([app(1, 'sleep 1')]);
    until(() => job.events.some(({ type }) => type === 'exited'), 'its end');
    assert.equal(ask([app(1, 'sleep 2')], 1, 1), { parent: 1, first: 2, count: 1, app: 2 });
    until(() => isRunning(job, 2), 'the third');
    assert.match(String(ask([app(16, 'true')])), /^16 ranks more need more slots than are left: 14 on 4 hosts\./u);
    until(() => job.report !== undefined, 'the end');
    assert.equal(endsOf(job).map((line) => line.slice(-8)), ['exited 0', 'exited 0', 'exited 0']);
    assert.is(job.events.filter(({ type }) => type === 'running').length, 1);
    end();
  });

  test('a job that ends, ends them; they get its signals', () => {
    const { begin, until, ask, end, world } = play();
    const job = begin(1, ['on-signal', 'SIGUSR1', '4', '60']);
    until(() => isRunning(job, 0), 'the first');
    ask([app(2, 'on-signal SIGUSR1 5 60')]);
    until(() => isRunning(job, 1) && isRunning(job, 2), 'all');
    job.frontEnd.control({ verb: 'signal', signal: 'SIGUSR1' });
    until(() => job.report !== undefined, 'the end');
    assert.equal(endsOf(job).map((line) => line.slice(-8)), ['exited 4', 'exited 5', 'exited 5']);
    const other = begin(2, ['ignore-term']);
    until(() => isRunning(other, 1), 'all');
    other.frontEnd.control({ verb: 'end', kill: false, reason: 'the test ends' });
    until(() => other.events.some(({ type }) => type === 'ending'), 'it ends');
    assert.is(ask([app(1, 'sleep 60')], 2), 'the job is ending');
    until(() => other.report !== undefined, 'the end');
    const third = begin(1, ['sleep', '60']);
    until(() => isRunning(third, 0), 'all');
    ask([app(2, 'sleep 60')], 3);
    third.frontEnd.control({ verb: 'end', kill: false, reason: 'the test ends' }); // Before one of them has started.
    until(() => third.report !== undefined, 'the end');
    assert.equal(endsOf(third).slice(1).map((line) => line.split(' ')[3]?.replace('ended', 'not-started')),
      ['not-started', 'not-started']);
    assert.equal(world.livingProcesses().filter(({ command }) => command[0] === 'sleep').length, 0);
    end();
  });

  test('those of a lost session agent, or that fail, are started again, each as its program', () => {
    const { begin, until, ask, end, world, login, nodes } = play({ errmgr: 'restart' });
    const job = begin(1, ['sleep', '2']);
    until(() => isRunning(job, 0), 'the first');
    ask([app(1, 'sleep 1.5', { hosts: ['h2', 'h3'] })]);
    ask([app(1, 'sleep 1.25', { hosts: ['h0'] })]);
    until(() => isRunning(job, 1) && isRunning(job, 2), 'all');
    const pid = world.livingProcesses().find(({ command }) => command[1] === '1.25')?.pid as number;
    world.killProcess(login.host, pid);
    until(() => isRunning(job, 2, 2), 'the program that was killed');
    const root = nodes.get('root:2')?.platform.env.pid as number;
    world.killProcess(login.host, root);
    until(() => job.report !== undefined, 'the end', 60_000);
    assert.equal(job.report?.ranks.map(({ outcome, end: status, earlier = [] }) =>
      [outcome, status?.status, earlier.length]), [['exited', 0, 0], ['exited', 0, 1], ['exited', 0, 1]]);
    end();
  });

  test('a service of a plugin has parts for them, asks for some itself, and knows how many there were at first', () => {
    const log: string[] = [];
    const request = (program: unknown) => ({ parent: 0, apps: [{ program, args: [], env: {}, count: 1 }] }) as never;
    const { begin, until, ask, end } = play({}, {
      atHost: (part) => ({
        onStart: (rank) => {
          if (rank >= part.size) part.send(rank); // The first opens the other part.
          return {};
        },
        onMessage: (body) => void log.push(`h${part.host} is told ${String(body)}`),
      }),
      atController: (part) => ({
        onMessage: (_host, rank) => {
          log.push(`${String(rank)} of ${part.size}`);
          if (rank === 3) return;
          part.spawn(request('true'), (spawn, problem) => part.sendAll(spawn?.first ?? problem));
          caught(() => part.spawn(request(7), nothing), ({ code }) => void log.push(code));
        },
        onEnd: (rank) => void log.push(`${rank} has ended`),
      }),
    });
    const job = begin(2, ['sleep', '1']);
    until(() => isRunning(job, 1), 'all');
    ask([app(1, 'sleep 0.5')]);
    until(() => job.report !== undefined, 'the end');
    assert.equal(log.sort(), ['0 has ended', '1 has ended', '2 has ended', '2 of 2', '3 has ended', '3 of 2',
      'STCI_MESSAGE_INVALID', 'h0 is told 3', 'h1 is told 3', 'h2 is told 3']);
    assert.is(job.report?.ranks.length, 4);
    end();
  });

  test('ranks for an agent that is just being started come to it', () => {
    const { begin, until, ask, end } = play();
    const job = begin(1, ['sleep', '0.5']);
    until(() => job.events.length > 0, 'its map');
    assert.is(ask([app(1, 'true')], 1, 1), 'rank 1 has not been started');
    assert.equal(ask([app(1, 'true', { hosts: ['h0'] })]), { parent: 0, first: 1, count: 1, app: 1 }, 'launching');
    for (const first of [2, 3, 4]) {
      assert.equal(ask([app(1, 'true', { hosts: ['h3'] })]), { parent: 0, first, count: 1, app: first });
    }
    until(() => job.report !== undefined, 'the end');
    assert.equal(endsOf(job).map((line) => line.slice(-8)), Array.from({ length: 5 }, () => 'exited 0'));
    end();
  });

  test('a host that is linked again, and one whose agent was lost, take part as any other', () => {
    const { begin, until, ask, end, pause, resume, world } = play({ 'bootcom.lease': '2s' });
    const job = begin(HOSTS, ['sleep', '20']);
    until(() => isRunning(job, HOSTS - 1), 'all');
    pause('root:1');
    world.run({ untilMs: world.nowMs + 500, maxEvents: 1_000_000 });
    assert.equal(ask([app(1, 'true', { hosts: ['h1'] })]), { parent: 0, first: 4, count: 1, app: 1 }, 'not known yet');
    resume('root:1');
    until(() => isRunning(job, 4), 'it is told then');
    job.frontEnd.control({ verb: 'end', kill: true, reason: 'the test ends' });
    until(() => job.report !== undefined, 'the end');
    end();
  });
});
