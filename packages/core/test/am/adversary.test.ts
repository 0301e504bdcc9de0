// @timeoutMs 240000
/**
 * An agent that has proved who it is and then breaks the rules: bodies that are mutated, frames of every type, names of
 * others, credit that it does not have. It costs its own host; the controller and all other hosts go on.
 */

import { roleFactory, runAgent } from '@stci/core';
import { createFrontEnd } from '@stci/core/controller';
import {
  CONTROLLER, FRONT_END, NEIGHBOUR, addressIndex, rootAddress, sessionAddress,
  type Allocation, type Channel, type JobEvent, type JobReport, type JobSpec,
} from '@stci/interface';
import { createWorld, type AgentContext } from '@stci/platform-sim';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { SUBTREE } from '../../dist/am/transport.js';
import { decode, encode } from '../../dist/codec/cbor.js';
import { FrameDecoder } from '../../dist/codec/frame-decoder.js';
import {
  FLAG, HEADER_BYTES, LAYER, decodeHeader, encodeHeader, frameBody, frameLayer, frameSource, readU32,
  type Frame, type FrameHeader,
} from '../../dist/codec/frame.js';
import { resolved, composition, type Settings } from '../assembly.js';

type Next = (below: number) => number;

/** What the bad agent makes of a frame of its own: the frames that go out in its place. */
type Attack = (frame: Frame, next: Next) => Uint8Array[];

const BOOT_SELF_AT = HEADER_BYTES + 8 + 32;
const HOSTS = 4;
const BAD = 1;

/** Everything that leaves after the handshake passes by `attack`. */
function attacked(channel: Channel, attack: Attack, next: Next): Channel {
  let isBad: boolean | undefined;
  const decoder = new FrameDecoder(1 << 26, (frame) =>
    void channel.send(frameLayer(frame) === LAYER.link ? [frame] : attack(frame.slice(), next)));
  return {
    kind: channel.kind, label: channel.label,
    get queuedBytes() {
      return channel.queuedBytes;
    },
    bind: (events) => channel.bind({
      ...events,
      onDrain: () => events.onDrain(),
      onClose: (reason) => events.onClose(reason),
      onData: (chunk) => {
        isBad ??= readU32(chunk, BOOT_SELF_AT) === rootAddress(BAD);
        events.onData(chunk);
      },
    }),
    send: (chunks) => {
      if (isBad !== true) return channel.send(chunks);
      for (const chunk of chunks) decoder.push(chunk.slice());
      return true;
    },
    readable: (on) => channel.readable(on), close: () => channel.close(), destroy: (why) => channel.destroy(why),
  };
}

interface Done {
  readonly report: JobReport;
  readonly events: readonly JobEvent[];
  /** Standard output by rank. */
  readonly out: readonly string[];
}

const ALLOCATION: Allocation = {
  hosts: Array.from({ length: HOSTS }, (_, i) => ({ name: `h${i}`, slots: 4, slotsBound: false, origin: 'test' })),
  spares: [],
};

function specOf(command: readonly string[], timeoutMs?: number): JobSpec {
  const [program, ...args] = command as [string, ...string[]];
  return {
    apps: [{ program, args, count: 2 * HOSTS, env: {} }],
    mapBy: { by: 'node' }, oversubscribe: true, env: { PATH: '/bin' }, wdir: '/', stdin: { to: 'none' },
    launchTimeoutMs: 20_000, ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function play(attack: Attack, seed: number, command: readonly string[], settings: Settings = {},
  timeoutMs?: number): Done {
  const world = createWorld({ seed });
  const next = seededIntegers(seed);
  world.program('stci-agent', ({ platform, channel, exit }: AgentContext) => {
    const load = (done: (start: ReturnType<typeof roleFactory>) => void): void => done(roleFactory(composition));
    runAgent({ platform, channel: attacked(channel, attack, next), load, exit: ({ failed }) => exit(failed ? 1 : 0) });
  });
  const { params, snapshot } = resolved({ launcherproc: 'local', 'launcher.root.method': 'process', errmgr: 'continue',
    'launcher.tree.arity': String(HOSTS), 'errmgr.launch': 'shrink', ...settings });
  const out = Array.from({ length: 2 * HOSTS }, () => '');
  const events: JobEvent[] = [];
  let [report, stopped]: [JobReport | undefined, number] = [undefined, 0];
  world.start('login', ['stcirun'], ({ platform, exit }) => {
    const frontEnd = createFrontEnd({ platform, composition, params, snapshot, allocation: ALLOCATION }, {
      onJobEvent: (event) => {
        events.push(event);
        if (event.type !== 'ended') return;
        report = event.report;
        frontEnd.stop();
      },
      onOutput: (rank, stream, chunk, wallMs, release) => {
        new Date(wallMs).toISOString();
        if (stream === 'stdout') out[rank] += String.fromCharCode(...chunk);
        release();
      },
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onStopped: () => {
        stopped += 1;
        exit(0);
      },
    });
    frontEnd.submit(specOf(command, timeoutMs));
  });
  world.run({ untilMs: 240_000, maxEvents: 5_000_000 });
  assert.equal(world.faults.map(({ error }) => String((error as Error).stack)), [], `seed ${seed}`);
  assert.equal([stopped, report !== undefined], [1, true], `seed ${seed}: it ends, with a report`);
  return { report: report as unknown as JobReport, events, out };
}

/** All ranks of the other hosts have run as if nothing had been. */
function assertOthersUnharmed({ report, out }: Done, expected: (rank: number) => string, what: string): void {
  for (const { rank, host, outcome, end } of report.ranks) {
    if (host === `h${BAD}`) continue;
    assert.equal([host, rank, outcome, end, out[rank]], [host, rank, 'exited', { status: 0 }, expected(rank)], what);
  }
}

function frame(header: Partial<FrameHeader>, body: Uint8Array): Uint8Array {
  const full = { layer: LAYER.message, type: 0, flags: 0, ttl: 64, stream: 0, source: rootAddress(BAD),
    destination: CONTROLLER, job: 1, sequence: 1, ...header };
  const bytes = new Uint8Array(HEADER_BYTES + body.length);
  bytes.set(encodeHeader(full, body.length));
  bytes.set(body, HEADER_BYTES);
  return bytes;
}

/** Values that no honest agent sends, and some that it might. */
const VALUES: readonly unknown[] = [
  undefined, null, NaN, Infinity, -1, 1.5, 2 ** 32 - 1, 2 ** 40, 1e300, 0, 1, 7, 99_999, true, '', 'x', 'SIGKILL',
  '__proto__', [], {}, [null], new Uint8Array(3), [[[[]]]],
];

function mutated(value: unknown, next: Next): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || next(4) === 0) {
    return VALUES[next(VALUES.length)];
  }
  if (Array.isArray(value)) {
    const copy = [...(value as unknown[])];
    const at = next(copy.length + 1);
    copy[at] = mutated(copy[at], next);
    return copy;
  }
  const copy: Record<string, unknown> = { ...value };
  const keys = [...Object.keys(copy), 'extra'];
  const key = keys[next(keys.length)] as string;
  if (next(5) === 0) delete copy[key];
  else copy[key] = mutated(copy[key], next);
  return copy;
}

/** One frame of its own in `oneIn`, decoded, changed, encoded. */
const mutating = (oneIn: number): Attack => (own, next) => {
  if (next(oneIn) > 0) return [own];
  const header = decodeHeader(own);
  const body = frameBody(own);
  if (next(3) > 0) {
    try {
      return [frame(header, encode(mutated(decode(body), next)))];
    } catch {
      // Credit, or a fragment.
    }
  }
  const bytes = body.slice();
  for (let i = next(4); i >= 0 && bytes.length > 0; i--) bytes[next(bytes.length)] = next(256);
  return [frame(header, next(4) === 0 ? bytes.subarray(0, next(bytes.length + 1)) : bytes)];
};

const ADDRESSES = [CONTROLLER, FRONT_END, NEIGHBOUR, SUBTREE, rootAddress(0), rootAddress(BAD), rootAddress(9),
  sessionAddress(0), sessionAddress(BAD), sessionAddress(2), 0xf000_0001];

/** A frame of any type, from and to anybody, with a body that is made up. */
const inventing = (oneIn: number): Attack => (own, next) => {
  if (next(oneIn) > 0) return [own];
  const any = (): number => ADDRESSES[next(ADDRESSES.length)] as number;
  const isStream = next(3) === 0;
  const source = next(2) === 0 ? rootAddress(BAD) : next(2) === 0 ? sessionAddress(BAD) : any();
  const header = { layer: isStream ? LAYER.stream : LAYER.message, type: isStream ? next(6) : next(34), source,
    flags: next(3) === 0 ? next(256) : 0, stream: isStream ? next(3) : 0, destination: any(), sequence: next(50) };
  const error = { code: 'STCI_AGENT_LOST', message: 'm' };
  const base = { host: next(5), ranks: [[next(9), 1, 1]], agent: any(), error,
    kind: 'agent-lost', incarnation: 1, evidence: 'closed', wallMs: 1, pid: 1, hostname: 'h', reason: 'r', swept: 0,
    signal: 'SIGKILL', verb: 'end',
    kill: true, spec: {}, type: 'running', subtree: [[9, 'h9', '', 1]],
    login: [9, 'h9', '', 1] };
  const chunk = [next(2 * HOSTS + 2), 1 + next(3), next(2) === 0 ? NaN : 1, new Uint8Array(next(3))];
  return [own, frame(header, encode(next(2) === 0 ? mutated(isStream ? chunk : base, next) : isStream ? chunk : base))];
};

const lines = ['lines', '20', '30', '0.01'];

/** A program for another host. */
const foreignLaunch = { job: 1, session: 'x', size: 1, nodes: 2, apps: [{ program: 'sleep', args: ['600'], env: {} }],
  env: {}, wdir: '/', stdin: { to: 'none' }, creditBytes: 65_536, hosts: [[0, [[0, 0, 1, 1]]]] };

/** All of another host is killed. */
const foreignFault = {
  order: { id: '1', kind: 'host', args: {}, victim: { kind: 'host', host: 0 }, job: 1, timeoutMs: 1000 },
  number: 0, part: { at: { role: 'root', host: 0 }, body: {} },
};

suite('an authenticated agent that breaks the rules', (test) => {
  const honest = play((own) => [own], 1, lines);
  const expected = (rank: number): string => honest.out[rank] as string;

  test('an honest one: the job as it should be', () => {
    assert.equal([honest.report.exitCode, honest.report.failures], [0, []]);
    assert.ok(honest.out.every((text) => text.length > 20 * 20));
  });

  for (const [name, attack] of [['mutated bodies', mutating], ['made up frames', inventing]] as const) {
    test(`${name}: nothing but its own host is harmed`, () => {
      let lost = 0;
      for (let seed = 1; seed <= 120; seed++) {
        const done = play(attack([1, 3, 10, 30][seed % 4] as number), seed, lines);
        assertOthersUnharmed(done, expected, `${name}, seed ${seed}`);
        if (done.report.failures.some(({ host }) => host === `h${BAD}`)) lost += 1;
      }
      assert.ok(lost > 40, `${lost} hosts were lost`);
    }, { timeoutMs: 100_000 });
  }

  /** In the place of the first chunk of output. */
  const once = (make: (own: Frame) => Uint8Array[]): Attack => {
    let done = false;
    return (own) => {
      if (done || frameLayer(own) !== LAYER.stream) return [own];
      done = true;
      return make(own);
    };
  };
  const tuples: Readonly<Record<string, unknown>> = {
    'an unknown rank': [4711, 1, 1, Uint8Array.of(65)],
    'a rank of another host': [0, 1, 1, Uint8Array.of(65)],
    'no tuple': null,
    'a time that is NaN': [BAD, 1, NaN, Uint8Array.of(65)],
    'a time out of all range': [BAD, 1, 1e300, Uint8Array.of(65)],
    'a stream that is none': [BAD, 3, 1, Uint8Array.of(65)],
    'text for bytes': [BAD, 1, 1, 'A'],
  };
  for (const [what, tuple] of Object.entries(tuples)) {
    test(`output with ${what}: its host is lost, and the report says why`, () => {
      const done = play(once((own) => [frame(decodeHeader(own), encode(tuple))]), 3, lines);
      assertOthersUnharmed(done, expected, what);
      const [failure, ...more] = done.report.failures;
      assert.equal([more, failure?.code, failure?.host], [[], 'STCI_AGENT_LOST', `h${BAD}`]);
      assert.match(failure?.message ?? '', /session:1 on host h1 is lost: it sent malformed data: Expected/);
    });
  }

  const frames: Readonly<Record<string, (own: Frame) => Uint8Array[]>> = {
    'in the name of another host': (own) => [frame({ ...decodeHeader(own), source: sessionAddress(2) },
      frameBody(own))],
    'for all agents, up the tree': () => [frame({ type: 15, destination: SUBTREE },
      encode({ kill: true, reason: '' }))],
    'of its own, malformed': () => [frame({ type: 1 }, encode({ host: BAD, pid: NaN, hostname: 'x' }))],
    'about a child that it does not have': () => [frame({ type: 3 }, encode({ kind: 'agent-lost', agent: rootAddress(2),
      incarnation: 1, evidence: 'closed', error: { code: 'STCI_AGENT_LOST', message: '' }, wallMs: 1 }))],
    'with a tag': () => [frame({ type: 1 }, Uint8Array.of(0xc2, 0x41, 0x01))],
    'that ends the job': () => [frame({ type: 21 }, encode({ verb: 'end', kill: true, reason: 'x' }))],
    'of a type that is none': () => [frame({ type: 999 }, encode(1))],
    'of credit that was not spent': (own) => [frame({ ...decodeHeader(own), type: 4, flags: 0 },
      Uint8Array.of(255, 255, 255, 255))],
    'of half a credit': (own) => [frame({ ...decodeHeader(own), type: 4, flags: 0 }, Uint8Array.of(1, 2))],
    'of no stream frame': (own) => [frame({ ...decodeHeader(own), type: 77 }, encode(1))],
    'of a signal that there is not': () => [frame({ type: 12, source: sessionAddress(BAD) }, encode({ host: BAD,
      ranks: [{ rank: BAD, pid: 1, outcome: 'signalled', end: { signal: 'SIGZZZ' }, endWallMs: 1, leftovers: 0 }] }))],
    'in the name of a host below it that there is not': () => [frame({ type: 4,
      source: rootAddress(HOSTS * (BAD + 1)) },
      encode('x'))],
    'in the name of the controller': () => [frame({ type: 10, source: CONTROLLER, destination: rootAddress(0) },
      encode(foreignLaunch))],
    'in the name of the front-end': () => [frame({ type: 21, source: FRONT_END },
      encode({ verb: 'end', kill: true, reason: 'x' }))],
    'of marks of a rank of another host': () => [frame({ type: 101, source: sessionAddress(BAD) },
      encode({ host: BAD, marks: [[0, 'm', 1]] }))],
    'of marks at a time out of all range': () => [frame({ type: 101, source: sessionAddress(BAD) },
      encode({ host: BAD, marks: [[BAD, 'm', NaN]] }))],
    'about a fault at another host': () => [frame({ type: 129 },
      encode({ host: 0, number: 0, id: '1', over: true }))],
    'of a fault, in the name of the controller': () => [frame({ type: 127, source: CONTROLLER,
      destination: rootAddress(0) }, encode({}))],
    'of another stream': (own) => [frame({ ...decodeHeader(own), stream: 2 }, frameBody(own))],
  };
  for (const [what, make] of Object.entries(frames)) {
    test(`a frame ${what}: its host is lost, once, and no other`, () => {
      const done = play(once(make), 3, lines);
      assertOthersUnharmed(done, expected, what);
      assert.equal(done.report.failures.map(({ code, host }) => [code, host]), [['STCI_AGENT_LOST', `h${BAD}`]]);
      assert.is(done.report.exitCode, 200);
    });
  }

  for (const [what, header, body] of [
    ['a launch for another root agent', { type: 10, destination: rootAddress(0) }, foreignLaunch],
    ['a launch for another session agent', { type: 10, destination: sessionAddress(0) }, foreignLaunch],
    ['the end of another host', { type: 15, destination: sessionAddress(0) }, { kill: true, reason: 'x' }],
    ['a signal for another host', { type: 14, destination: sessionAddress(0) }, { signal: 'SIGKILL' }],
    ['a fault for another root agent', { type: 127, destination: rootAddress(0) }, foreignFault],
    ['a fault for another session agent', { type: 127, destination: sessionAddress(0) }, foreignFault],
    ['the question for the clock of another', { type: 130, destination: rootAddress(0), flags: FLAG.request }, {}],
    ['a stop of another agent', { type: 2, destination: rootAddress(0) }, { reason: 'x' }],
  ] as const) {
    test(`${what} is refused there`, () => {
      for (const source of [rootAddress(BAD), sessionAddress(BAD)]) {
        const add = once((own) => [own, frame({ ...header, source }, encode(body))]);
        const done = play(add, 3, lines);
        assertOthersUnharmed(done, expected, what);
        assert.equal(done.report.failures, []);
      }
    });
  }

  for (const [what, errmgr] of [['forbids all', 'continue'], ['allows three', 'restart']] as const) {
    test(`restarts beyond what the error manager allows, which ${what}, cost the agent that tells them`, () => {
      const end = { rank: BAD, pid: 1, outcome: 'exited', end: { status: 1 }, endWallMs: 1, leftovers: 0, afterMs: 0 };
      const one = (count: number): Uint8Array => frame({ type: 90, source: sessionAddress(BAD), sequence: 1000 },
        encode({ host: BAD, ranks: Array.from({ length: count }, () => end) }));
      for (const frames of [[one(50)], Array.from({ length: 50 }, () => one(1))]) {
        const settings = { errmgr, 'errmgr.host': 'continue', 'errmgr.agent': 'continue' };
        const done = play(once((own) => [own, ...frames]), 3, lines, settings);
        assertOthersUnharmed(done, expected, what);
        const restarts = done.events.filter(({ type }) => type === 'restarting').length;
        assert.is(restarts, errmgr === 'restart' ? 3 : 0);
        assert.equal(done.report.failures.map(({ code, host }) => [code, host]), [['STCI_AGENT_LOST', `h${BAD}`]]);
      }
    });
  }

  test('a report of a failure chooses neither exit code nor host', () => {
    const error = { code: 'STCI_USAGE', message: 'words', host: 'h0', agent: 'root:0', rank: 0, data: {} };
    const body = {
      kind: 'agent-lost', agent: sessionAddress(BAD), incarnation: 1, evidence: 'closed', error, wallMs: 1,
    };
    const done = play(once((own) => [frame({ type: 3 }, encode(body)), own]), 3, lines);
    assertOthersUnharmed(done, expected, 'one report');
    const [failure] = done.report.failures;
    assert.equal([failure?.code, failure?.message, failure?.host, failure?.agent, failure?.rank, done.report.exitCode],
      ['STCI_AGENT_LOST', 'words', `h${BAD}`, `session:${BAD}`, undefined, 200]);
  });

  test('a host that never says that its ranks are gone does not outlive --timeout', () => {
    const mute: Attack = (own) => (frameLayer(own) === LAYER.message && decodeHeader(own).type === 13 ? [] : [own]);
    const done = play(mute, 3, lines, {}, 10_000);
    assertOthersUnharmed(done, expected, 'its ranks have ended');
    assert.equal(done.report.failures.map(({ code }) => code), ['STCI_JOB_TIMEOUT']);
    const ending = play(mute, 3, ['exit', '3'], { errmgr: 'abort' }, 10_000);
    assert.equal(ending.report.failures[0]?.code, 'STCI_TOOL_STATUS');
  });

  test('an agent that does not mind being expelled loses its link, too', () => {
    // It answers every request by sending the same again.
    const bad = frame({ layer: LAYER.stream, type: 1, stream: 1, source: sessionAddress(BAD) },
      encode([4711, 1, 1, Uint8Array.of(65)]));
    const attack: Attack = (own) => {
      if (frameLayer(own) === LAYER.stream) return [bad];
      return (decodeHeader(own).flags & FLAG.reply) > 0 ? [] : [own];
    };
    const done = play(attack, 5, ['lines', '20', '30', '0.2']);
    assert.equal(done.report.failures.map(({ host }) => host), [`h${BAD}`]);
    assert.equal(done.events.filter(({ type }) => type === 'failure').length, 1);
  });

  test('with several agents on the way, it costs those at and below it alone', () => {
    const own: Attack = (sent, next) => (addressIndex(frameSource(sent)) === BAD ? mutating(4)(sent, next) : [sent]);
    for (let seed = 1; seed <= 30; seed++) {
      const done = play(own, seed, lines, { 'launcher.tree.arity': '1' });
      for (const { host, rank, outcome } of done.report.ranks) {
        const isAbove = Number(host.slice(1)) < BAD;
        if (isAbove) assert.equal([rank, outcome, done.out[rank]], [rank, 'exited', expected(rank)], `seed ${seed}`);
      }
    }
  }, { timeoutMs: 60_000 });
});
