/** An agent that waits for the one above it at a listener, and that one's connection: once, with the key, in time. */

import { DeferredChannel, type AgentPlace, type AgentProcess, type Channel } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { awaitParent, type AwaitedParent } from '../../dist/boot/await-parent.js';
import { failedAgent, reachPlace } from '../../dist/launcher/reach-here.js';
import { testPlace, type TestPlace } from '../world.js';

const KEY = new Uint8Array(32).fill(7);
const WAIT_MS = 5000;

/** What comes over a channel, and its end. */
function heard(channel: Channel): string[] {
  const found: string[] = [];
  channel.bind({
    onData: (chunk) => found.push(new TextDecoder().decode(chunk)), onDrain: () => undefined,
    onClose: (reason) => found.push(`closed: ${reason}`),
  });
  return found;
}

interface Waiting extends TestPlace, AwaitedParent {
  readonly addresses: readonly string[];
  readonly heard: string[];
}

function waiting(): Waiting {
  const place = testPlace();
  let addresses: readonly string[] = [];
  const say = (told: readonly string[]): void => void (addresses = told);
  const awaited = awaitParent(place.platform, { key: KEY, interfaces: [], waitMs: WAIT_MS, say });
  place.until(() => addresses.length > 0, 'its place');
  return { ...place, ...awaited, addresses, heard: heard(awaited.channel) };
}

interface Connected {
  readonly process: AgentProcess;
  readonly events: string[];
  readonly heard: string[];
}

function connect({ platform }: TestPlace, place: AgentPlace, start?: () => AgentProcess): Connected {
  const events: string[] = [];
  const process = reachPlace(platform, place, 1000, {
    onError: ({ message, data }) => events.push(`${String(data?.['reach'])}: ${message}`),
    onDiagnostic: () => undefined,
    onExit: ({ evidence }) => events.push(`exit ${evidence}`),
  }, start);
  return { process, events, heard: heard(process.channel) };
}

const send = (channel: Channel, text: string): void => void channel.send([new TextEncoder().encode(text)]);

suite('an agent that waits for the one above it', (test) => {
  test('one connection is its channel, what was sent before it is there; nobody else can connect', () => {
    const one = waiting();
    assert.match(one.addresses.join(), /^tls:/);
    const parent = connect(one, { addresses: ['tls://h:1', ...one.addresses], key: KEY });
    assert.match(parent.process.phase ?? '', 'connecting to tls://h:1');
    send(parent.process.channel, 'boot');
    one.until(() => one.heard.length > 0, 'the first bytes');
    send(one.channel, 'answer');
    one.until(() => parent.heard.length > 0, 'the answer');
    assert.equal([one.heard, parent.heard, parent.process.phase], [['boot'], ['answer'], undefined]);
    const late = connect(one, { addresses: one.addresses, key: KEY });
    one.until(() => late.events.length > 0, 'a refusal');
    assert.match(late.events[0] ?? '', /^dead: .*connection refused/);
    one.run(2 * WAIT_MS);
    one.giveUp('too late');
    one.run();
    assert.equal(one.heard, ['boot']);
    parent.process.kill();
    one.until(() => one.heard.length > 1, 'the end');
    assert.equal(parent.events, ['exit connection']);
  });

  test('two that connect at once: one is its channel, the other is closed', () => {
    const one = waiting();
    const both = [0, 1].map(() => connect(one, { addresses: one.addresses, key: KEY }));
    for (const { process } of both) send(process.channel, 'boot');
    one.until(() => both.some(({ events }) => events.length > 0), 'the end of one');
    one.run();
    assert.is(both.filter(({ events }) => events.length > 0).length, 1);
    assert.equal(one.heard, ['boot']);
  });

  test('one that connects and sends nothing: another takes its place, and is its channel', () => {
    const one = waiting();
    const silent = connect(one, { addresses: one.addresses, key: KEY });
    one.run(WAIT_MS / 2);
    assert.equal([silent.events, one.heard], [[], []]);
    const parent = connect(one, { addresses: one.addresses, key: KEY });
    one.until(() => silent.events.length > 0, 'the end of the silent one');
    send(parent.process.channel, 'boot');
    one.until(() => one.heard.length > 0, 'the first bytes');
    send(one.channel, 'answer');
    one.run(2 * WAIT_MS);
    assert.equal([one.heard, parent.heard, silent.heard.length], [['boot'], ['answer'], 1]);
  });

  test('one that connects and sends nothing until the deadline is closed, and so is the wait', () => {
    const one = waiting();
    const silent = connect(one, { addresses: one.addresses, key: KEY });
    one.run(2 * WAIT_MS);
    assert.equal([silent.events, one.heard], [['exit connection'], ['closed: no agent has connected within 5 s']]);
  });

  test('another key is refused, and the agent waits on', () => {
    const one = waiting();
    const stranger = connect(one, { addresses: one.addresses, key: KEY.map(() => 8) });
    one.until(() => stranger.events.length > 0, 'a refusal');
    assert.match(stranger.events.join(), /^unreachable: /);
    const parent = connect(one, { addresses: one.addresses, key: KEY });
    send(parent.process.channel, 'boot');
    one.until(() => one.heard.length > 0, 'the first bytes');
    assert.equal(one.heard, ['boot']);
  });

  test('its wait ends at its deadline, and when it is given up', () => {
    const late = waiting();
    late.run(WAIT_MS - 100);
    assert.equal(late.heard, []);
    late.run(200);
    assert.equal(late.heard, ['closed: no agent has connected within 5 s']);
    const alone = waiting();
    alone.giveUp('what started it has ended');
    alone.run();
    assert.equal(alone.heard, ['closed: what started it has ended']);
    const parent = connect(alone, { addresses: alone.addresses, key: KEY });
    alone.until(() => parent.events.length > 0, 'a refusal');
    assert.match(parent.events[0] ?? '', /^dead/);
  });

  test('of several addresses all are tried; it has ended only if nobody listens at any', () => {
    const place = testPlace();
    const dead = connect(place, { addresses: ['tls://h:1', 'tls://h:2'], key: KEY });
    place.until(() => dead.events.length > 0, 'the failure');
    assert.match(dead.events[0] ?? '', /^dead: .*tls:\/\/h:1.*tls:\/\/h:2/);
    const unknown = connect(place, { addresses: ['tls://h:1', 'tls://nowhere:2'], key: KEY });
    place.until(() => unknown.events.length > 0, 'the failure');
    assert.match(unknown.events[0] ?? '', /^unreachable: /);
  });

  test('where nobody waits any more an agent is started, if wished; not where one waits, or when killed', () => {
    const one = waiting();
    const starts: string[] = [];
    const startOther = (): AgentProcess => {
      starts.push('start');
      const channel = new DeferredChannel({ kind: 'stdio', label: 'started', soon: one.platform.clock.soon });
      return { pid: 7, phase: 'in the login shell', channel, kill: () => channel.end('killed') };
    };
    const addresses = ['tls://h:1', 'tls://nowhere:1'];
    const killed = connect(one, { addresses, key: KEY }, startOther);
    killed.process.kill();
    const reached = connect(one, { addresses: one.addresses, key: KEY }, startOther);
    send(reached.process.channel, 'here');
    one.until(() => one.heard.length > 0, 'the one that waits');
    one.run(2000);
    assert.equal([starts, killed.events, reached.process.isConnection], [[], ['exit connection'], true]);
    const started = connect(one, { addresses, key: KEY }, startOther);
    assert.equal([started.process.pid, started.process.phase], [0, 'connecting to tls://h:1']);
    one.until(() => starts.length > 0, 'a start');
    const { pid, phase, isConnection } = started.process;
    assert.equal([pid, phase, isConnection, started.events], [7, 'in the login shell', false, []]);
    started.process.kill();
    assert.equal(started.heard, ['closed: killed']);
  });

  test('a place without addresses is one failure', () => {
    const place = testPlace();
    const none = connect(place, { addresses: [], key: KEY });
    place.until(() => none.events.length > 0, 'the failure');
    assert.equal(none.events, ['undefined: it is not known where the agent waits']);
  });

  test('a connection that is given up before it is there is one exit; what cannot begin is one error', () => {
    const one = waiting();
    const killed = connect(one, { addresses: one.addresses, key: KEY });
    killed.process.kill();
    killed.process.kill();
    one.run(2000);
    assert.equal(killed.events, ['exit connection']);
    const events: string[] = [];
    const failed = failedAgent(one.platform, 'the host is drained', {
      onError: ({ message }) => events.push(message), onDiagnostic: () => undefined, onExit: () => events.push('exit'),
    });
    const closed = heard(failed.channel);
    one.run();
    failed.kill();
    one.run();
    assert.equal([events, closed], [['the host is drained'], ['closed: the host is drained']]);
  });
});
