/** Services of an agent: the first message loads one; what comes meanwhile waits, in order, and within a bound. */

import { StciError } from '@stci/interface';
import { assert, eventually, suite } from '@stci/testkit';
import '../../dist/injection/messages.js';
import '../../dist/programs/messages.js';
import type { AgentNode } from '../../dist/node/node.js';
import { LinkGuard } from '../../dist/node/peer-guard.js';
import { AgentServices } from '../../dist/service/agent-services.js';
import type { OpenService, RootPlace, Service, ServiceCode } from '../../dist/service/contracts.js';
import { Loadable } from '../../dist/service/loadable.js';
import { addressOf, makeNet } from '../am/net.js';

/** A root agent with one service, whose code comes when the test says so; `log`: what it does. */
function play(isOfAgents?: () => boolean) {
  const net = makeNet([0, 0]);
  const [controller, root] = net.nodes as [AgentNode, AgentNode];
  const log: string[] = [];
  let settle: { come(): void; fail(error: Error): void } | undefined;
  const code: ServiceCode = {
    root: ({ node }: RootPlace): OpenService => {
      log.push('open');
      node.messages.on('fault.undo', ({ id }) => void log.push(id));
      node.messages.on('agent.clock', () => ({ wallMs: 1, nowMs: 2 }));
      return {
        stop: (reason) => void log.push(`stop: ${reason}`),
        get isIdle() {
          return log.at(-1) === 'idle';
        },
        onUp: (host) => void log.push(`up ${host}`),
        onGone: ({ host }) => void log.push(`gone ${host}`),
      };
    },
  };
  let loads = 0;
  const service: Service = {
    name: 'test', messages: { root: ['fault.undo', 'agent.clock'] }, passed: ['program.ended', 'program.wait'],
    ...(isOfAgents && { isOfAgents }),
    code: new Loadable('the test', () => new Promise((come, fail) => {
      loads += 1;
      settle = { come: () => come(code), fail };
    })),
  };
  const place = { node: root, scope: {}, ownsProcess: true } as unknown as RootPlace;
  const services = new AgentServices('root', [service], place);
  const undo = (id: string): void => {
    controller.messages.send(addressOf(1), 'fault.undo', { id });
    net.run(1);
  };
  const loaded = async (error?: Error): Promise<void> => {
    if (error === undefined) settle?.come();
    else settle?.fail(error);
    // Turns of this process: the code is loaded outside of the simulated clock.
    await eventually(() => service.code.isLoaded || error !== undefined, { what: 'the code' });
    await Promise.resolve().then(() => undefined);
  };
  return { ...net, controller, root, services, log, undo, loaded, loads: () => loads };
}

suite('services of an agent', (test) => {
  test('a collection of session agents is passed on, and loads nothing', () => {
    const { controller, addSession, loads, run } = play();
    const session = addSession(1, 7);
    session.collects.on('program.wait', () => ({ count: 3, waits: [] }));
    const counts: number[] = [];
    controller.collects.ask('program.wait', [[session.identity.self, 7]], {
      job: 7, onEach: ({ count }) => counts.push(count), onDone: (silent) => counts.push(silent.length),
    });
    run(10);
    assert.equal([counts, loads()], [[3, 0], 0]);
  });

  test('the first message loads one, once; those that come meanwhile are handled in order', async () => {
    const { undo, loaded, log, loads, faults, run } = play();
    assert.is(loads(), 0);
    undo('a');
    undo('b');
    assert.equal([loads(), log], [1, []]);
    await loaded();
    undo('c');
    run(1);
    assert.equal([loads(), log, faults], [1, ['open', 'a', 'b', 'c'], []]);
  });

  test('what its agent holds: those that are open, and not idle', async () => {
    const { services, undo, loaded, run } = play();
    undo('a');
    assert.equal(services.labels, []);
    await loaded();
    run(1);
    assert.equal(services.labels, ['service test']);
    undo('idle');
    assert.equal(services.labels, []);
  });

  test('a request waits for its answer, which comes when the code is here', async () => {
    const { controller, loaded, run } = play();
    const answers: unknown[] = [];
    controller.messages.request(addressOf(1), 'agent.clock', {}, (error, reply) => void answers.push(error ?? reply));
    run(1);
    await loaded();
    run(10);
    assert.equal(answers, [{ wallMs: 1, nowMs: 2 }]);
  });

  test('code that cannot be loaded is told to who asked, and no link is closed for it', async () => {
    const { controller, undo, loaded, faults, closed, run } = play();
    const answers: string[] = [];
    controller.messages.request(addressOf(1), 'agent.clock', {}, (error) => void answers.push(error?.message ?? ''));
    undo('a');
    await loaded(new Error('no such file'));
    run(10);
    undo('b');
    assert.match(answers.join(), /the test cannot be loaded: no such file/);
    assert.equal([faults.filter((text) => text.includes('the test cannot be loaded')).length, closed], [2, []]);
  });

  test('what waits is bounded', async () => {
    const { root, undo, loaded, log, faults } = play();
    for (let i = 0; i < 1030; i++) undo(String(i));
    assert.is(faults.filter((text) => text.includes('STCI_MESSAGE_WINDOW: 128 messages')).length, 902);
    await loaded();
    assert.equal([log.length, log.at(-1)], [129, '127']);
    assert.is(root.router.parentLink?.state, 'up');
  });

  test('an agent that stops ends its services; one that is loaded later is opened to say so', async () => {
    const early = play();
    early.undo('a');
    await early.loaded();
    early.services.stop('it stops');
    assert.equal(early.log, ['open', 'a', 'stop: it stops']);
    const late = play();
    late.services.stop('it stops');
    late.undo('a');
    await late.loaded();
    assert.equal(late.log, ['open', 'stop: it stops', 'a']);
  });

  test('one that the parameters ask for is loaded at once, and told what happened meanwhile, in order', async () => {
    const { services, undo, loaded, loads, log, faults } = play(() => true);
    assert.is(loads(), 1);
    services.tell((opened) => opened.onUp?.(3));
    services.tell((opened) => opened.onGone?.({ host: 4 }));
    undo('a');
    assert.equal(log, []);
    await loaded();
    services.tell((opened) => opened.onUp?.(5));
    assert.equal([loads(), log, faults], [1, ['open', 'up 3', 'gone 4', 'a', 'up 5'], []]);
  });

  test('one that is not asked for is told nothing, until a message has loaded it', async () => {
    const { services, undo, loaded, loads, log } = play(() => false);
    services.tell((opened) => opened.onUp?.(3));
    assert.is(loads(), 0);
    undo('a');
    services.tell((opened) => opened.onUp?.(4));
    await loaded();
    assert.equal(log, ['open', 'a', 'up 4']);
  });

  test('what root agents only pass on needs no service', () => {
    const { controller, run, faults, loads } = play();
    controller.messages.sendSubtree('program.ended', { ranks: [] }, 1);
    run(10);
    assert.equal([faults, loads()], [[], 0]);
  });

  test('a service that there is not is none', () => {
    const { services } = play();
    const told: unknown[] = [];
    services.use('other', (opened, error) => void told.push(opened, error));
    assert.equal(told, [undefined, undefined]);
  });

  test('one that throws where it is opened later is told of, and the others that waited get theirs', async () => {
    const { services, undo, loaded, log, faults } = play(() => true);
    services.tell(() => {
      throw new StciError('STCI_MESSAGE_INVALID', 'no such detector');
    });
    services.tell((opened) => opened.onUp?.(3));
    undo('a');
    await loaded();
    assert.equal(log, ['open', 'up 3', 'a']);
    assert.match(faults.join(), /no such detector/);
    // What is thrown at once is for whoever has sent the message.
    assert.throwsCode('STCI_MESSAGE_INVALID', () => services.tell(() => {
      throw new StciError('STCI_MESSAGE_INVALID', 'no such detector');
    }));
  });

  test('calls that wait for code are bounded', () => {
    const { services } = play(() => true);
    for (let i = 1; i < 1024; i++) services.tell(() => undefined);
    assert.throwsCode('STCI_MESSAGE_WINDOW', () => services.tell(() => undefined));
  });

  test('with the last one that an agent stops those go that are needed until then', async () => {
    const { services, undo, loaded, log } = play();
    undo('a');
    await loaded();
    services.use('test', (opened) => Object.assign(opened ?? {}, { isLast: true }));
    services.stop('it leaves', true);
    assert.equal(log, ['open', 'a']);
    services.stop('it stops');
    assert.equal(log, ['open', 'a', 'stop: it stops']);
    const other = play();
    other.undo('a');
    await other.loaded();
    other.services.stop('it leaves', true);
    assert.equal(other.log, ['open', 'a', 'stop: it leaves']);
  });

  test('those that wait for code behind one that throws get it, too, and what is thrown is not lost', () => {
    let come = (): void => undefined;
    const load = {
      then: (onCode: (code: string) => void) => ({
        then: (settle: () => void) => (come = () => (onCode('code'), settle())),
      }),
    };
    const code = new Loadable('the test', () => load as unknown as Promise<string>);
    const got: unknown[] = [];
    code.use(() => {
      throw new Error('the first one fails');
    });
    code.use((...given) => void got.push(...given));
    assert.throws(() => come(), 'the first one fails');
    assert.equal(got, ['code', undefined]);
    come();
    assert.is(got.length, 2, 'once');
  });

  test('for a message of an agent that may not send it no code is loaded', () => {
    const { root, addSession, loads, closed, run } = play();
    new LinkGuard(root);
    addSession(1, 1).messages.send(addressOf(1), 'fault.undo', { id: 'a' }, 0);
    run(10);
    assert.equal([loads(), closed.length > 0], [0, true]);
  });
});
