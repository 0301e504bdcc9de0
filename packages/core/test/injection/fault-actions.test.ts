/** What agents do for a fault by their roles: what is left is taken back, processes are marked and bounded. */

import type { FaultOrder, Impairment, ProcessEvents, SpawnSpec } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { controllerActions, linkActions, rootActions, toolActions } from '../../dist/injection/fault-actions.js';
import { FaultProcesses } from '../../dist/injection/fault-processes.js';
import { MARK_VARIABLE } from '../../dist/job/environment.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { TreeOverlay } from '../../dist/peers/tree-overlay.js';
import type { ToolPlace } from '../../dist/service/contracts.js';
import { testPlace } from '../world.js';

/** What actions do not use. */
const PLACE = {
  ownsProcess: true, overlay: {} as TreeOverlay, hosts: 1,
  losses: { fence: () => undefined, cutOff: () => undefined, parentGone: () => undefined },
};

const faultOf = (id: string) => ({ order: { id, job: 2 } as FaultOrder, holds: new Scope(id) });
const SILENT: Impairment = { direction: 'both', isSilent: true };

suite('actions of faults', (test) => {
  test('a rank that was stopped and not continued goes on when its fault is over; others are left alone', () => {
    const seen: string[] = [];
    const tool: ToolPlace = { signal: (name, whom) => seen.push(`${name} ${whom}`) > 0 };
    const actions = toolActions({
      node: {} as AgentNode, ownsProcess: true, toolOf: () => tool, exit: () => undefined,
    });
    const [a, b, c] = [faultOf('a'), faultOf('b'), faultOf('c')];
    const signal = (fault: typeof a, name: 'SIGSTOP' | 'SIGCONT'): void =>
      actions.signal?.(
        { type: 'signal', key: 'k', ranks: [1], signal: name, whom: 'group' }, fault, () => undefined);
    signal(a, 'SIGSTOP');
    b.holds.close();
    assert.equal(seen, ['SIGSTOP group']);
    a.holds.close();
    a.holds.close();
    assert.equal(seen, ['SIGSTOP group', 'SIGCONT group']);
    signal(c, 'SIGSTOP');
    signal(c, 'SIGSTOP');
    signal(c, 'SIGCONT');
    c.holds.close();
    assert.is(seen.length, 5);
  });

  test('links that were impaired are restored when their fault is over', () => {
    const seen: string[] = [];
    const linkFaults = {
      impair: (peers: readonly number[], _how: Impairment, id: string) => void seen.push(`impair ${peers} ${id}`),
      restore: (peers: readonly number[], id: string) => void seen.push(`restore ${peers} ${id}`),
    };
    const actions = linkActions({ linkFaults } as unknown as AgentNode);
    const done = (problem?: string): void => void seen.push(problem ?? 'done');
    const [a, b] = [faultOf('a'), faultOf('b')];
    actions.impair?.({ type: 'impair', key: 'k', peers: [1, 2], how: SILENT }, a, done);
    actions.impair?.({ type: 'impair', key: 'k', peers: [3], how: SILENT }, a, done);
    actions.restore?.({ type: 'restore', key: 'k', peers: [1] }, a, done);
    actions.restore?.({ type: 'restore', key: 'k', peers: [1] }, b, done);
    b.holds.close();
    assert.equal(seen.splice(0),
      ['impair 1,2 a', 'done', 'impair 3 a', 'done', 'restore 1 a', 'done', 'restore 1 b', 'done']);
    a.holds.close();
    a.holds.close();
    assert.equal(seen, ['restore 3 a', 'restore 1,2 a']);
  });

  test('a close of links is done if there was one', () => {
    for (const count of [0, 1, 2]) {
      const told: (string | undefined)[] = [];
      const actions = linkActions({ linkFaults: { close: () => count } } as unknown as AgentNode);
      actions.close?.({ type: 'close', key: 'k', peers: [1] }, faultOf('a'), (problem) => told.push(problem));
      assert.equal(told, [count === 0 ? 'there is no link to close' : undefined]);
    }
  });
});

/** A root agent that is all of its process; it is ready to be stopped when the test says so. */
function stoppable() {
  const place = testPlace();
  const log: string[] = [];
  const parentLink = { queuedBytes: 1 };
  let ready: ((error: undefined, go: (isWanted: boolean) => void) => void) | undefined;
  const stopSelf = (_forMs: number, call: typeof ready): void => void (ready = call);
  let answer: ((problem?: string) => void) | undefined;
  const { clock } = place.platform;
  const actions = rootActions({
    node: {
      name: 'root:1', platform: { clock, processes: { stopSelf } }, router: { parentLink }, linkFaults: place,
    } as unknown as AgentNode,
    ...PLACE, killSelf: () => undefined,
    sessions: {
      jobs: [],
      kill: () => undefined,
      signal: (signal, _timeoutMs, done) => {
        log.push(signal);
        answer = done;
      },
    },
  });
  const fault = faultOf('a');
  const pause = (what: 'self' | 'all'): void => actions.pause?.({ type: 'pause', key: 'k', what, forMs: 5 }, fault,
    (problem) => log.push(problem ?? 'told'));
  return {
    ...place, log, parentLink, pause, end: () => fault.holds.close(),
    ready: () => ready?.(undefined, (isWanted) => log.push(isWanted ? 'stopped' : 'not stopped')),
    answer: (problem?: string) => answer?.(problem),
  };
}

suite('an agent stops itself', (test) => {
  test('a host: its tools are stopped, then it is told, and when that has left, its agent is; then they go on', () => {
    const { end, log, parentLink, pause, ready, answer, run } = stoppable();
    pause('all');
    run(1000);
    assert.equal(log, [], 'nothing before it is certain that it goes on');
    ready();
    assert.equal(log, ['SIGSTOP']);
    answer();
    run(20);
    assert.equal(log, ['SIGSTOP', 'told']);
    parentLink.queuedBytes = 0;
    run(10);
    assert.equal(log, ['SIGSTOP', 'told', 'stopped']);
    end();
    end();
    assert.equal(log, ['SIGSTOP', 'told', 'stopped', 'SIGCONT']);
  });

  test('not for ever if what was sent does not leave, and not if the fault is over or its tools do not answer', () => {
    const stuck = stoppable();
    stuck.pause('self');
    stuck.ready();
    stuck.run(300);
    assert.equal(stuck.log, ['told', 'stopped']);
    const late = stoppable();
    late.pause('all');
    late.end();
    late.ready();
    assert.equal(late.log, ['not stopped']);
    const undone = stoppable();
    undone.pause('self');
    undone.ready();
    undone.end();
    undone.run(300);
    assert.equal(undone.log, ['told', 'not stopped'], 'it was undone while the report left');
    const silent = stoppable();
    silent.pause('all');
    silent.ready();
    silent.answer('no reply');
    silent.run(300);
    silent.end();
    assert.equal(silent.log, ['SIGSTOP', 'no reply', 'not stopped', 'SIGCONT']);
  });
});

suite('an agent kills itself', (test) => {
  for (const [name, what] of [['root', 'all'], ['root', 'self'], ['controller', 'self']] as const) {
    test(`${name}, ${what}: when what was sent has left, or after 200 ms`, () => {
      for (const leavesMs of [50, Infinity]) {
        const place = testPlace();
        const log: string[] = [];
        const link = { queuedBytes: 1 };
        const router = name === 'root' ? { parentLink: link } : { links: () => [{ queuedBytes: 0 }, link] };
        const killSelf = (): void => void log.push('self');
        const { clock } = place.platform;
        const node = { platform: { clock, processes: { killSelf } }, router } as unknown as AgentNode;
        const sessions = { jobs: [], kill: () => void log.push('tools'), signal: () => undefined };
        const root = rootActions({ ...PLACE, node, sessions, killSelf });
        const actions = name === 'root' ? root : controllerActions(node);
        actions.kill?.({ type: 'kill', key: 'k', what }, faultOf('a'), (problem) => log.push(problem ?? 'done'));
        place.run(45);
        assert.equal(log, []);
        if (leavesMs < 200) link.queuedBytes = 0;
        place.run(15);
        assert.is(log.length > 0, leavesMs < 200);
        place.run(175);
        assert.equal(log, what === 'all' ? ['tools', 'self'] : ['self']);
      }
    });
  }
});

function processes() {
  const place = testPlace();
  const started: { readonly spec: SpawnSpec; readonly events: ProcessEvents; isEnded: boolean }[] = [];
  const spawn = (spec: SpawnSpec, events: ProcessEvents) => {
    const one = { spec, events, isEnded: false };
    started.push(one);
    return { pid: started.length, signal: () => (one.isEnded = true) };
  };
  const { clock, env } = place.platform;
  const all = new FaultProcesses({
    platform: { clock, env, processes: { spawn } }, sessionName: 's', identity: { job: 2, self: 0x2000_0003 },
  } as unknown as AgentNode);
  const answers: string[] = [];
  const [a, b, c] = [new Scope('a'), new Scope('b'), new Scope('c')];
  const start = (owner: Scope, count: number): void =>
    all.spawn(owner, { type: 'spawn', key: 'k', program: 'p', args: [], count }, (problem) =>
      void answers.push(problem ?? 'done'));
  return { ...place, a, b, c, started, answers, start, left: () => started.filter(({ isEnded }) => !isEnded).length };
}

suite('processes of faults', (test) => {
  test('they carry the mark by which leftovers are found, and end with their fault, or with the agent', () => {
    const { a, b, c, start, started, left, run, answers } = processes();
    start(a, 2);
    start(b, 1);
    start(c, 1);
    run(1);
    assert.equal(answers, ['done', 'done', 'done']);
    assert.equal(started[0]?.spec.env[MARK_VARIABLE], 's-2-3.');
    assert.is(started[0]?.spec.lifetime, 'guarded');
    a.close();
    assert.equal(started.map(({ isEnded }) => isEnded), [true, true, false, false]);
    b.close();
    c.close();
    assert.is(left(), 0);
  });

  test('one that ends by itself makes room for others, and what it has started is ended', () => {
    const { a, b, start, started, run, answers } = processes();
    start(a, 256);
    started[3]?.events.onExit({ status: 0 });
    assert.equal(started.filter(({ isEnded }) => isEnded).map((one) => started.indexOf(one)), [3]);
    start(b, 1);
    run(1);
    assert.equal([answers, started.length], [['done', 'done'], 257]);
  });

  test('one that cannot be started ends those that were', () => {
    const { a, start, started, left, run, answers } = processes();
    start(a, 3);
    started[1]?.events.onError({ code: 'STCI_PROGRAM_SPAWN', message: 'no such program' });
    run(1);
    assert.equal([answers, left()], [['no such program'], 0]);
  });

  test('there are at most 256 at an agent', () => {
    const { a, b, start, started, run, answers } = processes();
    start(a, 200);
    start(b, 57);
    run(1);
    assert.equal([answers.sort()[0], started.length],
      ['57 processes are too many: the faults of an agent have 256 at most', 200]);
  });
});

suite('programs that faults run to their end', (test) => {
  function run(network: string | undefined, apartFrom: string | undefined, script: readonly string[] = []) {
    const answers: (string | undefined)[] = [];
    let spec: SpawnSpec | undefined;
    const spawn = (given: SpawnSpec, events: ProcessEvents) => {
      spec = given;
      queueMicrotask(() => {
        for (const words of script) events.onOutput('stderr', new TextEncoder().encode(words), 0);
        events.onExit({ status: script.length });
        events.onOutputEnd('stderr');
      });
      return { readable: () => undefined };
    };
    const platform = { env: { hostname: 'h', network, variables: { PATH: '/p' } }, processes: { spawn },
      clock: { after: () => ({ cancel: () => undefined }) } };
    new FaultProcesses({ platform } as unknown as AgentNode)
      .run({ type: 'run', key: 'k', program: 'nft', args: ['x'], apartFrom }, (problem) => answers.push(problem));
    return new Promise<[typeof answers, SpawnSpec | undefined]>((done) => queueMicrotask(() => done([answers, spec])));
  }

  test('in a network that is that of the controller, or not known, nothing is run', async () => {
    assert.equal(await run('k 1', 'k 1'), [['h shares the network of the machine of the controller'], undefined]);
    const unknown = ['the system does not tell whether h has a network apart'];
    assert.equal([await run(undefined, 'k 1'), await run('k 1', '')], [[unknown, undefined], [unknown, undefined]]);
  });

  test('elsewhere it is, apart from this process, and the first line of its words is told', async () => {
    const [answers, spec] = await run('k 1', 'k 2');
    const env = { PATH: '/p:/usr/local/sbin:/usr/sbin:/sbin' };
    assert.equal([answers, spec?.lifetime, spec?.env], [[undefined], 'apart', env]);
    assert.equal((await run('k 1', undefined, ['Error: no', ' right\nx']))[0],
      ['nft ended by exit code 2: Error: no right']);
  });
});
