/** Children of an agent, on a virtual clock: window, deadlines, failures reported once, a stop that leaves nothing. */

import { rootAddress, type Address, type AgentProcessEvents, type Channel, type StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { ChildSupervisor } from '../../dist/boot/child-supervisor.js';
import type { ChildSpec } from '../../dist/boot/child.js';
import { readBootRecord, type BootRecord } from '../../dist/bootcom/boot-record.js';
import { Link } from '../../dist/bootcom/link.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { makeNet, type Net } from '../am/net.js';

/** What a child does: comes up, or one of the ways in which it does not. */
type Way = 'up' | 'error' | 'exit' | 'silent' | 'deaf' | 'hangs-up' | 'connects-late' | 'slow' | 'trickles' | 'refuses';

interface Played {
  readonly net: Net;
  readonly children: ChildSupervisor;
  readonly told: string[];
  readonly errors: StciError[];
  readonly records: BootRecord[];
  readonly processes: Map<Address, { events: AgentProcessEvents; link?: Link; killed: number; channel: Channel }>;
  /** Children that were being started at the same time, at most. */
  most: number;
  launch(...ways: Way[]): void;
  spec(index: number, way: Way): ChildSpec;
}

const WINDOW = 3;
const HANDSHAKE_MS = 400;
const STOP_MS = 700;
/** Of a start that makes progress. */
const STEP_MS = 300;

function playing(): Played {
  const net = makeNet([0]);
  const node = net.nodes[0] ?? assert.unreachable('a node');
  const [told, errors] = [[] as string[], [] as StciError[]];
  const processes: Played['processes'] = new Map();
  let starting = 0;
  const done = (what: string, address: Address, error?: StciError): void => {
    starting -= what === 'lost' ? 0 : 1;
    told.push(`${what} ${address & 0xff}`);
    if (error !== undefined) errors.push(error);
  };
  const children = new ChildSupervisor(
    {
      node: node as never, window: WINDOW, handshakeMs: HANDSHAKE_MS, stopMs: STOP_MS, nativeLink: true,
      endsLostChildren: true,
    },
    {
      onUp: (address) => done('up', address),
      onFailed: ({ kind, agent, error }) => done(kind === 'agent-lost' ? 'lost' : 'failed', agent, error),
    },
  );
  const start = (address: Address, way: Way, events: AgentProcessEvents) => {
    starting += 1;
    played.most = Math.max(played.most, starting);
    const [near, far] = memoryChannel(net.platform.clock, 'child', 'parent');
    const process = { events, killed: 0,
      channel: far } as { events: AgentProcessEvents; link?: Link; killed: number; channel: Channel };
    processes.set(address, process);
    net.platform.clock.after(way === 'slow' ? 4 * STEP_MS : 0, () => act(played, way, process, address));
    const kill = (): void => {
      process.killed += 1;
      if (process.killed > 1) return;
      far.destroy('killed');
      if (way !== 'error') net.platform.clock.soon(() => events.onExit({ signal: 'SIGKILL' }));
    };
    const slowly = way === 'slow' || way === 'trickles';
    const startedMs = net.world.nowMs;
    const phase = (): string => `${Math.floor((net.world.nowMs - startedMs) / STEP_MS)}`;
    return {
      pid: 5, channel: near, kill, isConnection: way === 'refuses',
      get phase() {
        return slowly ? phase() : undefined;
      },
    };
  };
  let next = 0;
  const played: Played = {
    net, children, told, errors, processes, records: [], most: 0,
    launch: (...ways) => children.launch(ways.map((way) => played.spec(next++, way))),
    spec: (index, way) => {
      const address = rootAddress(index);
      const host = { name: `h${address & 0xff}`, slots: 1, slotsBound: false, origin: 'test' };
      const details = new Uint8Array(0);
      return { address, job: 0, incarnation: 1, host, details, start: (events) => start(address, way, events) };
    },
  };
  return played;
}

function act({ net, records }: Played, way: Way, process: { events: AgentProcessEvents; link?: Link; channel: Channel },
  address: Address): void {
  const { clock, secrets } = net.platform;
  if (way === 'error') process.events.onError({ code: 'STCI_PROGRAM_SPAWN', message: 'no such agent' });
  if (way === 'exit') {
    process.events.onDiagnostic('bad luck');
    process.channel.close();
    process.events.onExit({ status: 4 });
  }
  if (way === 'hangs-up') process.channel.destroy('gone');
  if (!['up', 'slow', 'deaf', 'connects-late', 'refuses'].includes(way)) return;
  readBootRecord(process.channel, clock, 1000, (_error, record, rest) => {
    if (record === undefined || rest === undefined) return;
    records.push(record);
    if (way === 'connects-late') return;
    const { session, secret, start, parent } = record;
    const parentOf = way === 'refuses' ? rootAddress(9) : parent;
    const admit = (peer: Address): string | undefined => (peer === parentOf ? undefined : 'not my parent');
    process.link = new Link(
      {
        role: 'parent', channel: rest, clock,
        handshake: { role: 'connect', self: address, session, secret, start, secrets, admit },
        limits: { frameBytesMax: 65_536, queueBytesMax: 1_000_000, handshakeMs: 1000 },
      },
      {
        onUp: () => undefined,
        // Asked to stop, a correct child says goodbye, closes its link and exits.
        onFrame: (link) => {
          if (way === 'deaf') return;
          link.close();
          process.events.onExit({ status: 0 });
        },
        onDrain: () => undefined,
        onClosed: () => {
          if (way === 'refuses') process.events.onExit({ status: 0, evidence: 'connection' });
        },
      },
    );
  });
}

/** The answers to an attempt to link to the agent of host 0 that is to be of `incarnation`, and is of `actual`. */
function adopting(p: Played, incarnation: number, actual: number): string[] {
  const { clock } = p.net.platform;
  const answers: string[] = [];
  const spec = { ...p.spec(0, 'up'), incarnation };
  p.children.adopt(spec, HANDSHAKE_MS, (events) => {
    const [near, far] = memoryChannel(clock, 'child', 'parent');
    const node = p.net.nodes[0] as (typeof p.net.nodes)[number];
    const { identity, platform } = node;
    const [self, limits] = [rootAddress(0), { frameBytesMax: 65_536, queueBytesMax: 1_000_000, handshakeMs: 1000 }];
    const handshake = {
      role: 'connect' as const, self, session: identity.session, start: actual, secrets: platform.secrets,
      secret: node.secretOf(self, 0), admit: () => undefined,
    };
    const none = { onUp: () => undefined, onFrame: () => undefined, onDrain: () => undefined };
    const onClosed = (): void => events.onExit({ status: 0, evidence: 'connection' });
    assert.ok(new Link({ role: 'parent', channel: far, clock, handshake, limits }, { ...none, onClosed }));
    return { pid: 7, channel: near, kill: () => far.destroy('killed') };
  }, ({ result }) => answers.push(result));
  return answers;
}

suite('children of an agent', (test) => {
  test('come up, no more than the window at a time', () => {
    const p = playing();
    p.launch(...new Array<Way>(20).fill('up'));
    p.net.until(() => p.told.length === 20, 'all of them');
    assert.equal([p.told.every((what) => what.startsWith('up')), p.most, p.children.alive.length], [true, WINDOW, 20]);
  });

  test('one that hangs takes its place in the window until its deadline, and no longer', () => {
    const p = playing();
    p.launch('silent', 'silent', 'silent', 'up', 'up');
    p.net.run(HANDSHAKE_MS - 50);
    assert.equal(p.told, []);
    p.net.run(100);
    assert.equal(p.told.slice().sort(), ['failed 0', 'failed 1', 'failed 2', 'up 3', 'up 4']);
    assert.match(p.errors[0]?.message ?? '', /root:0 on host h0 did not come up: no handshake within 400 ms/);
    assert.equal([p.processes.get(rootAddress(0))?.killed, p.errors[0]?.code, p.errors[0]?.host], [1,
      'STCI_LAUNCH_FAILED', 'h0']);
  });

  test('one that is expelled while it starts, or waits for that, is ended without a word', () => {
    const p = playing();
    p.launch('silent', 'silent', 'silent', 'silent', 'up');
    p.net.run(HANDSHAKE_MS / 2);
    for (const host of [0, 3]) p.children.expel(rootAddress(host), 'another start takes its place');
    p.net.run(HANDSHAKE_MS / 4);
    assert.equal([p.processes.get(rootAddress(0))?.killed, p.processes.has(rootAddress(3))], [1, false]);
    p.net.run(HANDSHAKE_MS);
    assert.equal(p.told.slice().sort(), ['failed 1', 'failed 2', 'up 4']);
  });

  test('one that makes progress is waited for, longer than the handshake time; not for ever', () => {
    const p = playing();
    p.launch('slow', 'trickles', 'silent');
    p.net.run(HANDSHAKE_MS + 50);
    assert.equal(p.told, [], 'others make progress, if slowly: starts are slow here');
    p.net.until(() => p.told.includes('up 0'), 'the slow one');
    assert.ok(p.told.includes('failed 2'));
    p.net.run(6 * HANDSHAKE_MS - 5 * STEP_MS);
    assert.not.ok(p.told.includes('failed 1'));
    p.net.run(5 * STEP_MS);
    assert.ok(p.told.includes('failed 1'));
    assert.match(p.errors.at(-1)?.message ?? '', /no handshake within 2.4 s \(launcher.handshake\); .* phase \d/);
  });

  test('each way of failing is told once, with host, phase and the child\'s own words', () => {
    const p = playing();
    p.launch('error', 'exit', 'hangs-up');
    p.net.run(5000);
    assert.equal(p.told.slice().sort(), ['failed 0', 'failed 1', 'failed 2']);
    const text = (host: string): string => p.errors.find((error) => error.host === host)?.message ?? '';
    assert.match(text('h0'), /did not come up: no such agent/);
    assert.match(text('h1'), /did not come up: .*(status 4|end of file)/);
    assert.match(text('h1'), /it printed: bad luck/);
    assert.match(text('h2'), /did not come up: .*connection reset/);
  });

  test('one that is reached over a connection, and refuses: why is told, not that the connection was closed', () => {
    const p = playing();
    p.launch('refuses');
    p.net.run(5000);
    assert.equal(p.told, ['failed 0']);
    assert.match(p.errors[0]?.message ?? '', /did not come up: .*not my parent/);
    assert.is(p.children.alive.length, 0);
  });

  test('one that was up and breaks off is lost, once; one that leaves by itself too', () => {
    const p = playing();
    p.launch('up', 'up');
    p.net.until(() => p.told.length === 2, 'both up');
    p.processes.get(rootAddress(0))?.channel.destroy('crashed');
    p.processes.get(rootAddress(1))?.link?.close('no such interface');
    p.net.run(5000);
    assert.equal(p.told.slice(2).sort(), ['lost 0', 'lost 1']);
    assert.match(p.errors.map(({ message }) => message).join('\n'), /root:1 on host h1 exited: no such interface/);
    assert.equal(p.errors.map(({ code }) => code), ['STCI_AGENT_LOST', 'STCI_AGENT_LOST']);
    assert.is(p.children.alive.length, 0);
  });

  test('stop: those that wait are never started, the others end; nothing is told but that it is done, once', () => {
    const p = playing();
    p.launch('up', 'up', 'silent', 'up', 'up', 'up', 'up');
    p.net.until(() => p.told.length >= 2, 'two up');
    const before = p.told.length;
    const started = p.processes.size;
    let done = 0;
    p.children.stop('enough', () => (done += 1));
    p.net.run(STOP_MS / 2);
    assert.equal([done, p.children.alive.length, p.told.length], [1, 0, before]);
    assert.is(p.processes.size, started);
    p.net.run(5000);
    assert.is(done, 1);
    assert.equal(p.net.faults, []);
  });

  test('stop: one that does not listen is killed at the deadline', () => {
    const p = playing();
    p.launch('deaf', 'up');
    p.net.until(() => p.told.length === 2, 'both up');
    let done = 0;
    p.children.stop('enough', () => (done += 1));
    p.net.run(STOP_MS - 50);
    assert.equal([done, p.children.alive.length], [0, 1]);
    p.net.run(100);
    assert.equal([done, p.processes.get(rootAddress(0))?.killed, p.processes.get(rootAddress(1))?.killed], [1, 1, 0]);
    assert.match(p.net.faults.join(), /root:0: still there after 700 ms, killed/);
  });

  test('the deadlines of ends are held by the agent while they run', () => {
    const p = playing();
    p.launch('deaf', 'up');
    p.net.until(() => p.told.length === 2, 'both up');
    const held = (): readonly string[] => (p.net.nodes[0]?.holds.rows() ?? []).map(([, label]) => label);
    for (const index of [0, 1]) p.children.release(rootAddress(index), 0, 'not needed');
    assert.ok(held().includes('timer end of root:0') && held().includes('timer end of root:1'), held().join());
    p.net.run(STOP_MS - 50);
    assert.ok(held().includes('timer end of root:0') && !held().includes('timer end of root:1'), held().join());
    p.net.run(100);
    assert.not(held().includes('timer end of root:0'));
    p.launch('deaf');
    p.net.until(() => p.told.length === 3, 'up');
    p.children.stop('enough', () => undefined);
    assert.ok(held().includes('timer stop'), held().join());
  });

  test('stop without children is done at once, and leaves no timer', () => {
    const p = playing();
    let done = 0;
    p.children.stop('enough', () => (done += 1));
    assert.is(done, 1);
    assert.is(p.net.world.run(), 'idle');
  });

  test('who may link: a child that is being started, under its own address, once', () => {
    const p = playing();
    p.launch('up');
    assert.match(p.children.admit(rootAddress(9), 0, 0) ?? '', 'no child of this agent');
    p.net.until(() => p.told.length === 1, 'up');
    const { start } = p.records[0] as BootRecord;
    assert.match(p.children.admit(rootAddress(0), start, 0) ?? '', 'it is up');
    assert.match(p.children.admit(rootAddress(0), start + 1, 0) ?? '', 'an earlier start');
  });

  test('who may link: not the predecessor of one that was started again, however late it comes', () => {
    const p = playing();
    p.launch('connects-late');
    p.net.until(() => p.told.length === 1, 'given up');
    p.children.relaunch({ ...p.spec(0, 'connects-late'), incarnation: 2 });
    p.net.until(() => p.records.length === 2, 'started again');
    const [former, now] = p.records.map(({ start }) => start) as [number, number];
    assert.match(p.children.admit(rootAddress(0), former, 0) ?? '', 'an earlier start');
    assert.is(p.children.admit(rootAddress(0), now, 0), undefined);
  });

  test('a start that is asked for again is the same while it lasts; another incarnation takes its place', () => {
    const p = playing();
    p.launch('slow');
    p.net.until(() => p.processes.size === 1, 'started');
    const first = p.processes.get(rootAddress(0));
    p.children.relaunch(p.spec(0, 'up'));
    p.net.run(STEP_MS);
    assert.is(p.processes.get(rootAddress(0)), first, 'started once');
    assert.is(first?.killed, 0);
    p.net.until(() => p.told.length === 1, 'up');
    p.children.relaunch(p.spec(0, 'up'));
    p.net.run(STEP_MS);
    assert.equal([p.told, p.records.length, p.most], [['up 0'], 1, 1]);
    p.children.relaunch({ ...p.spec(0, 'up'), incarnation: 2 });
    p.net.until(() => p.records.length === 2, 'the other incarnation');
    assert.not.ok(p.processes.get(rootAddress(0)) === first);
  });

  test('of those that are to be linked again, only the one of the incarnation that is meant is taken', () => {
    for (const incarnation of [1, 2, 3]) {
      const p = playing();
      const answers = adopting(p, 2, incarnation);
      p.net.until(() => answers.length === 1, 'the answer');
      assert.equal(answers, [incarnation === 2 ? 'adopted' : 'unreachable'], `incarnation ${incarnation}`);
    }
  });

  test('one that is just being linked gives way to the start of the next incarnation', () => {
    const p = playing();
    const answers = adopting(p, 1, 1);
    p.children.relaunch({ ...p.spec(0, 'up'), incarnation: 2 });
    p.net.until(() => p.told.length === 1 && answers.length === 1, 'told of both');
    assert.equal([p.told, answers, p.children.alive.length], [['up 0'], ['unreachable'], 1]);
  });

  test('stop: one that is just being linked is let go at once, and holds up nothing', () => {
    const p = playing();
    const answers: string[] = [];
    p.children.adopt(p.spec(0, 'up'), 10 * STOP_MS, (events) => {
      const [near, far] = memoryChannel(p.net.platform.clock, 'child', 'parent');
      const kill = (): void => {
        far.destroy('killed');
        p.net.platform.clock.soon(() => events.onExit({ status: 0, evidence: 'connection' }));
      };
      return { pid: 7, channel: near, kill };
    }, ({ result }) => answers.push(result));
    let done = 0;
    p.children.stop('enough', () => (done += 1));
    p.net.run(STOP_MS / 2);
    assert.equal([done, answers, p.children.alive.length, p.net.faults], [1, ['unreachable'], 0, []]);
  });

  test('the next incarnation is linked in place of the former, whose link ends', () => {
    const p = playing();
    p.launch('up');
    p.net.until(() => p.told.length === 1, 'up');
    const answers = adopting(p, 2, 2);
    p.net.until(() => answers.length === 1 && p.processes.get(rootAddress(0))?.link?.state === 'closed', 'linked');
    assert.equal([p.told, answers, p.children.alive.length], [['up 0', 'up 0'], ['adopted'], 1]);
  });
});
