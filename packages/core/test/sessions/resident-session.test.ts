/** A session that stays, in simulation: hosts that leave, agents that end, and what is left of its jobs and faults. */

import type { AgentNode } from '@stci/core';
import { CONTROLLER, StciError, rootAddress, sessionAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { Link } from '../../dist/bootcom/link.js';
import { LAYER, encodeHeader } from '../../dist/codec/frame.js';
import type { HostOutcome } from '../../dist/messages/session-messages.js';
import { HOSTS, faultOf, open } from '../agent/open-session.js';
import type { Settings } from '../assembly.js';

suite('a session that stays', (test) => {
  test('a host that is to leave does so as soon as it is told, and may come again', () => {
    const { world, session, stateOf, until, end } = open();
    const startMs = world.nowMs;
    let left: readonly HostOutcome[] = [];
    session.removeHosts(['h1'], { force: false }, (outcomes) => (left = outcomes));
    until(() => left.length > 0, 'it has left', 500);
    assert.equal([left, stateOf(1), stateOf(2)], [[{ name: 'h1', error: undefined }], 'left', 'up']);
    assert.ok(world.nowMs - startMs < 500);
    const add = (name: string): void =>
      session.addHosts([{ name, slots: 4, slotsBound: false, origin: 'test' }], (outcomes) => (left = outcomes));
    assert.throws(() => add('h2'), /Host h2 is in the session already/);
    left = [];
    add('h1');
    until(() => left.length > 0, 'it is there again');
    assert.equal([left, stateOf(1)], [[{ name: 'h1', error: undefined }], 'up']);
    end();
  });

  test('a host that does not leave in the time that it may take is ended from above', () => {
    const { world, session, pause, stateOf, until, end } = open({
      'tool.grace': '1s', 'launcher.stop': '1s', 'bootcom.lease': '1m',
    });
    pause('root:1');
    const startMs = world.nowMs;
    let outcomes: readonly HostOutcome[] = [];
    session.removeHosts(['h1'], { force: false }, (told) => (outcomes = told));
    until(() => outcomes.length > 0, 'an answer');
    const tookMs = world.nowMs - startMs;
    assert.ok(tookMs >= 3000 && tookMs < 4000, `${tookMs} ms`);
    assert.equal([outcomes, stateOf(1), stateOf(2)], [[{ name: 'h1', error: undefined }], 'left', 'up']);
    end();
  });

  test('an agent that leaves, and waits for its tools, is suspected by nobody, and suspects nobody', () => {
    for (const more of [{}, { 'overlay.topology': 'bmg' }] as Settings[]) {
      const { session, told, submit, until, stateOf, end } = open({
        'launcher.tree.arity': '1', detector: 'ring', 'tool.grace': '3s', ...more,
      });
      const job = submit('ignore-term', '600');
      session.removeHosts(['h1'], { force: true }, () => undefined);
      until(() => stateOf(1) === 'left', 'it has left');
      job.frontEnd.control({ verb: 'end', kill: true, reason: 'enough' });
      until(() => job.report !== undefined, 'the end');
      const suspected = told.flatMap((event) =>
        event.type === 'member' && event.change === 'suspected' ? [event.name] : []);
      assert.equal(suspected, []);
      end();
    }
  });

  test('a host that is lost is started again, and whether a job had ranks there is told', () => {
    const { world, login, told, pidOf, submit, until, stateOf, end } = open({ 'errmgr.loss': 'start-again' });
    const phases = (): string[] => told.flatMap((event) => (event.type === 'recovery' ? [event.phase] : []));
    const lose = (): void => {
      const before = phases().length;
      world.killProcess(login.host, pidOf('root:1'));
      until(() => phases().length > before && stateOf(1) === 'up', 'it is up again', 5000);
    };
    lose();
    const job = submit('sleep', '600');
    lose();
    assert.equal(phases(), ['idle', 'running']);
    const recorded = (): unknown[] => told.flatMap((event) => event.type === 'failure-record'
      ? [[event.record.subject.kind, event.record.hostName, event.record.lostRanks.map(({ ranks }) => ranks)]] : []);
    until(() => recorded().length === 2, 'a record of each', 3000);
    assert.equal(recorded(), [['host', 'h1', []], ['host', 'h1', [[1]]]]);
    job.frontEnd.control({ verb: 'end', kill: true, reason: 'enough' });
    until(() => job.report !== undefined, 'its end');
    end();
  });

  test('a job that comes once its agents end is refused, as is a host, and the end goes on', () => {
    const { world, session, begin, until, end } = open();
    session.stop(() => undefined);
    for (const afterMs of [0, 1, 1000]) {
      world.run({ untilMs: world.nowMs + afterMs });
      const job = begin(1, ['true']);
      until(() => job.report !== undefined, 'an answer', 100);
      assert.equal([job.report?.job, job.report?.cause?.code], [0, 'STCI_SESSION_REFUSED']);
      const host = { name: 'h9', slots: 4, slotsBound: false, origin: 'test' };
      assert.throwsCode('STCI_SESSION_REFUSED', () => session.addHosts([host], () => undefined));
    }
    end();
  });

  test('that a rank is to be started again is told when its process has ended', () => {
    const { submit, until, end } = open({ errmgr: 'restart', 'errmgr.restart.pause': '30s' });
    const job = submit('crash', 'SEGV', '0.1');
    until(() => job.events.filter(({ type }) => type === 'restarting').length === HOSTS, 'all are to be', 1000);
    job.frontEnd.control({ verb: 'end', kill: true, reason: 'enough' });
    until(() => job.report !== undefined, 'its end');
    end();
  });

  test('ranks of a host that is lost are started again by the agents that its job has on others', () => {
    const { world, login, pidOf, submit, until, end } = open({ errmgr: 'restart', 'errmgr.restart.pause': '10ms' });
    const job = submit('sleep', '600');
    world.killProcess(login.host, pidOf('root:1'));
    const started = (): number[] => job.events.flatMap((event) =>
      event.type === 'started' && event.rank === 1 ? [event.host] : []);
    until(() => started().length === 2, 'its second start', 2000);
    assert.not.ok(started()[1] === 1, 'on another host');
    job.frontEnd.control({ verb: 'end', kill: true, reason: 'enough' });
    until(() => job.report !== undefined, 'its end');
    end();
  });

  test('a job that is ended while a host does not answer: its ranks are lost, no others', () => {
    const { pause, resume, submit, until, end } = open({ 'bootcom.lease': '120s' });
    const job = submit('sleep', '600');
    pause('root:1');
    job.frontEnd.control({ verb: 'end', kill: true, reason: 'enough' });
    until(() => job.report !== undefined, 'its end', 60_000);
    assert.equal(job.report?.ranks.map(({ host, outcome }) => `${host} ${outcome}`).sort(),
      ['h0 ended', 'h1 lost', 'h2 ended', 'h3 ended']);
    resume('root:1');
    end();
  });

  test('one that sent malformed data is given up at once, whatever the agent above it does', () => {
    const { nodes, pause, resume, until, stateOf, end } = open({
      'bootcom.lease': '120s', 'launcher.tree.arity': '1',
    });
    pause('root:0');
    const { messages } = nodes.get('controller') as AgentNode;
    const header = {
      layer: LAYER.message, type: 1, flags: 0, ttl: 1, stream: 0, source: rootAddress(1), destination: CONTROLLER,
      job: 0, sequence: 1,
    };
    const from = { peer: rootAddress(0), role: 'child' } as Link;
    messages.malformed(encodeHeader(header, 0), from, new StciError('STCI_MESSAGE_INVALID', 'bad'));
    until(() => stateOf(1) === 'failed', 'it is given up', 100);
    resume('root:0');
    until(() => stateOf(2) === 'up', 'those below it are linked to another');
    end();
  });

  test('what is asked of the agents of a host is answered, with an error, when the host is lost', () => {
    const { world, login, nodes, pidOf, pause, submit, until, stateOf, end } = open({ 'bootcom.lease': '120s' });
    submit('sleep', '600');
    pause('root:1');
    const errors: (string | undefined)[] = [];
    const { messages } = nodes.get('controller') as AgentNode;
    for (const [agent, job] of [[rootAddress(1), 0], [sessionAddress(1), 1]] as const) {
      const options = { job, timeoutMs: 60_000 };
      messages.request(agent, 'agent.echo', 0, (error) => void errors.push(error?.code), options);
    }
    world.killProcess(login.host, pidOf('root:1'));
    until(() => stateOf(1) === 'failed', 'its loss', 1000);
    assert.equal(errors, ['STCI_AGENT_LOST', 'STCI_AGENT_LOST']);
    end();
  });

  for (const method of ['process', 'inline'] as const) {
    test(`an agent that a fault kills, ${method}, ends as by SIGKILL if it has a process, and alone`, () => {
      const kill = faultOf('root', { type: 'kill', key: 'k', what: 'self' });
      const { world, login, inject, until, stateOf, end } = open({ 'launcher.root.method': method }, kill);
      inject(0);
      until(() => stateOf(1) === 'failed', 'its host is lost', 2000);
      const ends = world.processes().filter(({ command }) => command[0] === 'stci-agent').map((each) => each.end);
      const killed = ends.filter((each) => each !== undefined);
      assert.equal(killed, method === 'process' ? [{ signal: 'SIGKILL' }] : []);
      assert.equal([login.state, stateOf(0), stateOf(2)], ['running', 'up', 'up']);
      end();
    });
  }

  test('what a fault has started where the ranks have ended already ends with the job', () => {
    const spawn = faultOf('session', { type: 'spawn', key: 'k', program: 'ignore-term', args: ['600'], count: 2 });
    const { world, login, submit, inject, reports, until, end } = open({}, spawn);
    const job = submit('sleep', '600');
    const started = job.events.find((event) => event.type === 'started' && event.rank === 1);
    world.killProcess(login.host, (started as { readonly pid: number }).pid);
    const count = (program: string): number =>
      world.livingProcesses().filter(({ command }) => command[0] === program).length;
    until(() => job.events.some(({ type }) => type === 'exited'), 'the end of its rank');
    inject(1);
    until(() => reports.some(({ state }) => state === 'injected'), 'the fault');
    assert.equal([count('ignore-term'), count('sleep')], [2, HOSTS - 1]);
    job.frontEnd.control({ verb: 'end', kill: true, reason: 'enough' });
    until(() => job.report !== undefined && count('ignore-term') === 0, 'the end of all of it', 3000);
    end();
  });
});
