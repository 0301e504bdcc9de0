/** Services of plugins: a part at a host, what it has and what it cannot do. */

import type { HostService, RankStart, ServiceHost, ServiceModule } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { HostParts } from '../../dist/service/host-parts.js';
import type { JobPlace } from '../../dist/service/contracts.js';
import '../../dist/service/messages.js';
import { makeNet } from '../am/net.js';

/** The parts of a service at one host of a job, without a controller's part; `sent`: what they send. */
function play(make: (part: ServiceHost) => HostService, ...others: readonly HostService[]) {
  const net = makeNet([0, 0]);
  const node = net.addSession(1, 1);
  const sent: unknown[] = [];
  net.nodes[0]?.messages.on('service.message', ({ host, service, body }) => void sent.push([host, service, body]));
  let part: ServiceHost | undefined;
  const module: ServiceModule = {
    atHost: (own) => {
      part = own;
      return make(own);
    },
  };
  const more = others.map((service, i) => {
    const create = (): ServiceModule => ({ atHost: () => service });
    return { name: `other${i}`, create };
  });
  const scope = { selected: () => [{ name: 'test', create: () => module }, ...more] };
  const holds = new Scope('job');
  const place = {
    node, holds, scope, ownsProcess: true, params: node.params, host: 0, hostName: 'a', job: 1, size: 4, hosts: 1,
    onAlive: () => undefined, bindingOf: () => undefined,
  } as unknown as JobPlace;
  const parts = new HostParts(place);
  const tell = (body: unknown): void => {
    net.nodes[0]?.messages.send(node.identity.self, 'service.told', { service: 'test', body }, 1);
    net.run(10);
  };
  return { ...net, node, holds, parts, sent, tell, part: () => part as ServiceHost };
}

suite('parts of services', (test) => {
  test('a part knows its job, sends to the controller, and is told what that sends', () => {
    const told: unknown[] = [];
    const { part, sent, tell, run, node } = play(() => ({ onMessage: (body) => void told.push(body) }));
    const { session, job, size, host, hostName } = part();
    assert.equal([session, job, size, host, hostName], [node.sessionName, 1, 4, 0, 'a']);
    part().send({ a: Uint8Array.of(1) });
    run(10);
    tell([1, 'x']);
    assert.equal([sent, told], [[[0, 'test', { a: Uint8Array.of(1) }]], [[1, 'x']]]);
  });

  test('ranks start when it is open; a problem is told with service and host', () => {
    let done: (problem?: string) => void = () => undefined;
    const { parts } = play(() => ({ open: (call) => void (done = call) }));
    const answers: (string | undefined)[] = [];
    parts.open((error) => void answers.push(error?.message));
    assert.equal(answers, []);
    done('no port is free');
    done();
    assert.equal(answers, ['service test on host a: no port is free']);
    const plain = play(() => ({}));
    plain.parts.open((error) => void answers.push(error?.message));
    assert.is(answers.at(-1), undefined);
  });

  test('a rank gets variables, and a socket; one of STCI is left out', () => {
    const log: string[] = [];
    const { parts, faults } = play(() => ({
      onStart: (rank, attempt): RankStart => {
        if (rank === 3) return { env: { STCI_RANK: '7', A: 'b' } };
        return { env: { N: `${rank}.${attempt}` }, ...(rank === 0 && { socket: () => void log.push('socket') }) };
      },
      onEnd: (rank, attempt) => void log.push(`${rank}.${attempt} ends`),
    }));
    assert.equal([parts.add(0, 1), parts.add(1, 2)], [{ N: '0.1' }, { N: '1.2' }]);
    assert.equal([parts.socketOf(0) === undefined, parts.socketOf(1)], [false, undefined]);
    parts.remove(1);
    parts.remove(1);
    assert.equal(log, ['1.2 ends']);
    assert.equal(parts.add(3, 1), { A: 'b' });
    assert.match(faults.join(), /it may not set STCI_RANK/);
  });

  test('of what two services give a rank the first one counts, and the other is warned of once', () => {
    const log: string[] = [];
    const start = (of: string): HostService => ({
      onStart: () => ({ env: { SAME: of, [of]: '1' }, socket: () => void log.push(of) }),
    });
    const { parts, faults } = play(() => start('a'), start('b'));
    for (const rank of [0, 1]) {
      assert.equal(parts.add(rank, 1), { SAME: 'a', a: '1', b: '1' });
      parts.socketOf(rank)?.({} as never);
    }
    assert.equal(log, ['a', 'a']);
    assert.equal(faults.map((fault) => /(variable SAME|socket) of a rank is service test's/.exec(fault)?.[1]), [
      'variable SAME', 'socket',
    ]);
  });

  test('what cannot be sent is thrown', () => {
    const { part } = play(() => ({}));
    assert.throws(() => part().send(() => 7), 'Unknown type: function');
  });

  test('with the end its timers, sockets and listener are gone, and it sends no more', () => {
    const log: string[] = [];
    const { parts, holds, part, sent, run } = play((own) => ({
      open: (done) => own.listen(() => undefined, (problem, path) => {
        log.push(problem ?? (path === '' ? 'nowhere' : 'listens'));
        done();
      }),
      close: () => void log.push('closes'),
    }));
    parts.open(() => undefined);
    run(10);
    part().after(50, () => void log.push('timer'));
    part().after(500, () => void log.push('late'));
    run(100);
    assert.throws(() => part().listen(() => undefined, () => undefined), 'service test listens already');
    holds.close();
    part().send('x');
    part().after(1, () => void log.push('after'));
    run(1000);
    assert.equal([log, sent], [['listens', 'timer', 'closes'], []]);
  });

  test('one whose end throws is told of, and the end goes on: what it has is undone, and others end', () => {
    const log: string[] = [];
    const { parts, holds, part, sent, faults, run } = play(() => ({
      close: () => {
        throw new Error('it does not want to');
      },
    }), { close: () => void log.push('the other closes') });
    parts.open(() => undefined);
    run(10);
    part().after(50, () => void log.push('timer'));
    holds.atEnd(() => void log.push('the job ends'));
    holds.close();
    part().send('x');
    run(1000);
    assert.equal([log, sent], [['the job ends', 'the other closes'], []]);
    assert.match(faults.join(), /it does not want to/);
    assert.match(faults.join(), /the end of service test/);
  });
});
