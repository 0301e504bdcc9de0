/** A plugin's service in whole simulated jobs: what its parts are told of ranks and hosts, and when they end. */

import type { ServiceModule } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { ControllerPlace, Service, ServiceCode } from '../../dist/service/contracts.js';
import { Loadable } from '../../dist/service/loadable.js';
import { HOSTS, open } from '../agent/open-session.js';

/** A service that notes what its parts are told; each rank says that it starts. */
function noting() {
  const log: string[] = [];
  const service: ServiceModule = {
    atHost: (part) => ({
      open: (done) => {
        log.push(`h${part.host} opens`);
        part.after(5, () => done());
      },
      onStart: (rank, attempt) => {
        part.send([rank, attempt]);
        return { env: { TEST_RANK: String(rank) } };
      },
      onEnd: (rank, attempt) => void log.push(`h${part.host}: ${rank}.${attempt} ends`),
      onMessage: (body) => void log.push(`h${part.host} is told ${String(body)}`),
      close: () => void log.push(`h${part.host} closes`),
    }),
    atController: (part) => {
      const here = new Set<number>();
      log.push(`opens for ${part.size} on ${part.hosts.join()}`);
      return {
        onMessage: (host, body) => {
          const [rank, attempt] = body as [number, number];
          here.add(rank);
          if (here.size === part.size && attempt === 1) part.sendAll('all');
          if (attempt > 1) part.send(host, `again ${rank}`);
        },
        onEnd: (rank, failure) => void log.push(`${rank} has ended: ${failure ?? 'well'}`),
        onRestart: (rank) => void log.push(`${rank} is started again`),
        onHostLost: (host) => void log.push(`h${host} is lost`),
        close: () => void log.push('closes'),
      };
    },
  };
  const count = (pattern: RegExp): number => log.filter((line) => pattern.test(line)).length;
  return { service, log, count };
}

function provided(code: ServiceCode): Loadable<ServiceCode> {
  const loadable = new Loadable<ServiceCode>('the test', () => Promise.reject(new Error('it is here')));
  loadable.provide(code);
  return loadable;
}

suite('jobs with a service', (test) => {
  test('a part at each host before ranks start, one at the controller for the first message; all end', () => {
    const { service, log, count } = noting();
    const session = open({}, undefined, { service });
    const job = session.submit('sleep', '1');
    session.until(() => count(/is told all/u) === HOSTS, 'all have started');
    assert.equal([count(/opens$/u), count(/^opens for/u)], [HOSTS, 1]);
    session.until(() => job.report !== undefined, 'the end');
    assert.equal([count(/has ended: well/u), count(/h\d: \d\.1 ends/u)], [HOSTS, HOSTS]);
    session.until(() => count(/closes/u) === HOSTS + 1, 'all parts end');
    assert.is(count(/^closes$/u), 1);
    session.end();
    assert.is(log.filter((line) => line.includes('again')).length, 0);
  });

  test('when the session ends, a job is over before its parts end, and what comes then is nobody\'s', () => {
    const log: string[] = [];
    let place: ControllerPlace | undefined;
    const watcher: Service = {
      name: 'watcher', messages: { controller: ['agent.echo'] }, isOfAgents: () => true,
      code: provided({
        controller: (given) => {
          place = given;
          return { stop: () => undefined };
        },
      }),
    };
    const service: ServiceModule = {
      atHost: (part) => ({
        onStart: () => {
          part.send('first');
          return { env: {} };
        },
        close: () => part.send('last'),
      }),
      atController: ({ job }) => ({
        onMessage: (host, body) => void log.push(`h${host}: ${String(body)}`),
        close: () => {
          const { jobs } = (place as ControllerPlace).session;
          log.push(`closes: ${jobs.includes(job) ? 'known' : 'unknown'}, ${place?.jobOf(job) ? 'runs' : 'over'}`);
        },
      }),
    };
    const session = open({}, undefined, { service, agentServices: [watcher] });
    session.submit('sleep', '100');
    session.until(() => log.length === HOSTS, 'a message of each host');
    assert.is(place?.jobOf(1) === undefined, false);
    session.end();
    assert.equal(log.slice(HOSTS), ['closes: known, over']);
  });

  test('of ranks that are started again it is told', () => {
    const { service, count, log } = noting();
    const session = open({ errmgr: 'continue', 'errmgr.tool': 'restart' }, undefined, { service });
    const job = session.submit('sleep', '100');
    session.until(() => count(/is told all/u) === HOSTS, 'all have started');
    const rank = session.world.livingProcesses().find(({ command }) => command[0] === 'sleep');
    session.world.killProcess(session.login.host, rank?.pid ?? 0);
    session.until(() => count(/is told again/u) === 1, 'it is there again');
    assert.is(count(/is started again/u), 1, log.join('\n'));
    job.frontEnd.control({ verb: 'end', kill: true, reason: 'the test ends' });
    session.until(() => job.report !== undefined, 'the end');
    session.end();
  });

  test('a service that cannot be opened: no rank is started, and the job says why', () => {
    const service: ServiceModule = { atHost: () => ({ open: (done) => done('no port is free') }) };
    const session = open({}, undefined, { service });
    const job = session.begin(HOSTS, ['sleep', '1'], { oversubscribe: true });
    session.until(() => job.report !== undefined, 'the end');
    assert.match(job.report?.cause?.message ?? '', /service test on host h\d: no port is free/);
    session.end();
  });
});
