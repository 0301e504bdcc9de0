/**
 * Requirements on every launcherproc: an agent started by each of its methods comes up over the channel that `start`
 * returned, and every failure is reported exactly once, by `onError` or by `onExit`. `reach` connects to a private
 * socket; each way in which it can fail is told apart. What `startAll` promises is in start-all.ts.
 */

import { encodeBootDetails, encodeParams } from '@stci/core';
import { Link, encodeBootRecord } from '@stci/core/bootcom';
import {
  CONTROLLER,
  ERROR_KINDS,
  rootAddress,
  type AgentMethod,
  type AgentProcess,
  type AgentProcessEnd,
  type Channel,
  type LauncherProc,
  type Network,
  type Platform,
} from '@stci/interface';
import * as assert from '../kit/assert.js';
import { promised, type Contract, type Example } from '../kit/counterexample.js';
import { skip } from '../kit/running-test.js';
import { suite } from '../kit/suite.js';
import { Recorder, type Until } from '../platform/channel.js';
import { privateListener } from '../platform/private-network.js';

/** Agents that do not behave like one. */
export type BadAgent = 'missing' | 'exits' | 'silent' | 'speaks';

/** What `speaks` writes to its standard error, a long line, before it exits with 103. */
export const SPOKEN = `a line of the agent: äöü${' and so on'.repeat(50)}, to its end`;

export interface LauncherProcSetup {
  readonly launcherProc: LauncherProc;
  readonly platform: Pick<Platform, 'clock' | 'secrets'>;
  /** Parameters for the agent's boot record. */
  readonly params: Readonly<Record<string, number | boolean | string | readonly string[]>>;
  readonly until: Until;
  /** Where its agents are started; default: this machine. */
  readonly host?: string;
  end?(): void | Promise<void>;
}

export interface ReachSetup extends Pick<LauncherProcSetup, 'launcherProc' | 'until' | 'end'> {
  /** The network of the host that is reached, and its name. */
  readonly far: Network;
  readonly host: string;
  /** Name of a host that cannot be reached; undefined: there is none. */
  readonly unreachable?: string | undefined;
}

export interface LauncherProcCase {
  /** Methods that start a real agent. */
  readonly methods: readonly AgentMethod[];
  /** Hosts of `several`; default: 2. */
  readonly hosts?: number;
  /** Which misbehaving agent is started; undefined: a real one. */
  make(bad?: BadAgent): LauncherProcSetup | Promise<LauncherProcSetup>;
}

/** As in the docstring of `LauncherProc`. */
export const LAUNCHERPROC = {
  framework: 'launcherproc',
  promises: {
    record: 'The registry takes it; version, help and parameters can be shown; `query` depends on its input only.',
    name: 'Its name is that of its component.',
    params: 'Each parameter changes what it asks of its platform, or tells, and that of no other instance.',
    method: 'An agent is started by the method that is asked for; `inline` is passed all, and its agent returned.',
    up: '`start` returns at once, and its channel carries the boot record; closing it ends the agent, one exit.',
    kill: '`kill` ends an agent that is up, also if called twice: one exit.',
    several: 'Agents of several hosts come up at the same time; the end of one is told once, and leaves the others.',
    speaks: 'A line that an agent writes to its standard error is told once, as it is.',
    missing: 'Where there is no such command, one failure is reported, with its code, and the channel closed.',
    exits: 'An agent that exits at once is one exit, of the agent itself, with its status.',
    silent: 'An agent that says nothing is ended by `kill`: one exit.',
    asks: '`reach` asks for the path, for as long as it is told, and returns what says that it is a connection.',
    carries: '`reach` carries bytes both ways, in order, also those sent before it is closed.',
    ends: 'If the far end closes, what it has sent before arrives, and one exit is reported.',
    leaves: '`kill` ends a connection of `reach`, one exit, and neither the agent nor another connection.',
    dead: 'Where nobody listens any more, `reach` reports `dead`, once.',
    unreachable: 'A host that does not answer is reported as `unreachable`, once.',
    places: '`startAll` tells where each agent waits, once; who has the key connects, once, and it comes up.',
    waits: 'An agent to which nobody connects ends when its time is over: one exit, and `onOver` after the last.',
    group: '`kill` of all ends those that wait and those that are up: `onOver`, once, after all else.',
    failed: 'A host where no agent comes up is one `onFailed`, and the others wait all the same.',
  },
} as const satisfies Contract<string>;

/** Where a promise was broken: a real platform has nothing that could be made smaller. */
export interface LauncherProcExample extends Example<keyof typeof LAUNCHERPROC.promises> {
  readonly method?: AgentMethod;
}

export const ROOT = rootAddress(0);
export const HOST = { name: 'localhost', slots: 1, slotsBound: false, origin: 'test' };
/** As hosts are called: on this machine as well. */
export const HOST_NAMES = [
  '127.0.0.1', 'n1', 'node-2.example.org', 'Node-3', '10.0.0.4', 'fd00::5', 'a.b.c', 'n0007',
] as const;
const LIMITS = { frameBytesMax: 1024 * 1024, queueBytesMax: 1024 * 1024, handshakeMs: 10_000, leaseMs: 10_000 };

/** An agent that is being started, and all that is reported of it. */
export class StartedAgent {
  readonly errors: string[] = [];
  /** Errors that have no code, or no message. */
  readonly badErrors: string[] = [];
  readonly exits: string[] = [];
  evidence: AgentProcessEnd['evidence'];
  readonly reported: string[] = [];
  readonly lines: string[] = [];
  readonly agent: AgentProcess;
  link: Link | undefined;
  #hasReturned = false;

  /** `host`: another one than the first. */
  constructor(setup: LauncherProcSetup, method: AgentMethod, speak = true, host = setup.host) {
    const start = { address: ROOT, host: { ...HOST, ...(host && { name: host }) }, method };
    const early = (): void => assert.ok(this.#hasReturned, 'no event during start itself');
    this.agent = setup.launcherProc.start(start, {
      onError: (error) => {
        early();
        this.errors.push(error.code);
        const isGood = Object.hasOwn(ERROR_KINDS, error.code) && /^\S.{3}/s.test(error.message);
        if (!isGood) this.badErrors.push(JSON.stringify(error));
      },
      onDiagnostic: (line) => {
        early();
        this.lines.push(line);
      },
      onExit: (end) => {
        early();
        this.exits.push(end.signal ?? String(end.status));
        this.evidence = end.evidence;
      },
    });
    this.#hasReturned = true;
    if (speak) this.link = bootUp(setup, this.agent.channel, this.reported);
    else this.agent.channel.bind({ onData: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  }

  get over(): boolean {
    return this.errors.length + this.exits.length > 0;
  }
}

type Boot = Pick<LauncherProcSetup, 'platform' | 'params'>;

/** Sends the boot record of a root agent, and links to it; `reported`: what the link tells. */
export function bootUp({ platform, params }: Boot, channel: Channel, reported: string[]): Link {
  const { clock, secrets } = platform;
  const [session, secret] = [new Uint8Array(8), new Uint8Array(32).fill(3)];
  const details = encodeBootDetails({ host: 0, hosts: 1, tree: { arity: 1 }, subtree: [[0, 'localhost', '', 1]],
    connect: [], outlivesParent: false, params: encodeParams(params) });
  const record = { session, secret, self: ROOT, job: 0, parent: CONTROLLER, start: 7, nativeLink: true, details };
  const { frameBytesMax } = LIMITS;
  channel.send([encodeBootRecord({ ...record, frameBytesMax, handshakeMs: 10_000, leaseMs: 10_000 })]);
  const handshake = { role: 'accept' as const, self: CONTROLLER, session, secret, secrets, admit: () => undefined };
  return new Link({ role: 'child', channel, clock, handshake, limits: LIMITS }, {
    onUp: ({ peer }) => void reported.push(`up ${peer}`),
    onFrame: () => undefined,
    onDrain: () => undefined,
    onClosed: (_link, reason) => void reported.push(reason),
  });
}

/** Defines the suite `NAME: launcherproc`. */
export function launcherProcCompliance(name: string, what: LauncherProcCase): void {
  suite(`${name}: launcherproc`, (test) => {
    type Body = (setup: LauncherProcSetup) => Promise<void>;
    const promises = (example: LauncherProcExample, bad: BadAgent | undefined, body: Body): void => {
      const { promise, method } = example;
      test(method === undefined ? promise : `${method}: ${promise}`, () => promised(LAUNCHERPROC, example, async () => {
        const setup = await what.make(bad);
        try {
          await body(setup);
        } finally {
          await setup.end?.();
        }
      }), { timeoutMs: 60_000 });
    };
    for (const method of what.methods) {
      promises({ promise: 'up', method }, undefined, async (setup) => {
        const started = new StartedAgent(setup, method);
        await setup.until(() => started.reported.length > 0, 'the link');
        const told = [started.reported, started.agent.pid > 0];
        same('what its link tells, and whether it has a pid', told, [[`up ${ROOT}`], true]);
        started.link?.close();
        await setup.until(() => started.over, 'its end');
        same('errors and exits, after its link was closed', [started.errors, started.exits], [[], ['0']]);
      });

      promises({ promise: 'several', method }, undefined, async (setup) => {
        const one = new StartedAgent(setup, method);
        const others = Array.from({ length: (what.hosts ?? 2) - 1 }, (_, index) =>
          new StartedAgent(setup, method, true, setup.host ?? HOST_NAMES[index % HOST_NAMES.length]));
        const all = [one, ...others];
        await setup.until(() => all.every(({ reported }) => reported.length > 0), 'all links');
        same('what their links tell', all.map(({ reported }) => reported), all.map(() => [`up ${ROOT}`]));
        one.agent.kill();
        await setup.until(() => one.over && one.link?.state === 'closed', 'the end of the first');
        one.agent.kill();
        const left = others.map(({ errors, exits, link }) => [errors, exits, link?.state]);
        same('of the others, when the first was killed', left, others.map(() => [[], [], 'up']));
        for (const { link } of others) link?.close();
        await setup.until(() => others.every(({ over }) => over), 'the ends of the others');
        same('errors and exits of the first', [one.errors, one.exits.length], [[], 1]);
        same('ends of the others', others.map(({ errors, exits }) => [errors, exits]), others.map(() => [[], ['0']]));
      });

      promises({ promise: 'kill', method }, undefined, async (setup) => {
        const started = new StartedAgent(setup, method);
        await setup.until(() => started.reported.length > 0, 'the link');
        started.agent.kill();
        started.agent.kill();
        await setup.until(() => started.over && started.link?.state === 'closed', 'its end');
        const told = [started.errors, started.exits.length, started.reported.length];
        same('errors, number of exits, and of what its link tells, after two kills', told, [[], 1, 2]);
      });
    }

    promises({ promise: 'missing' }, 'missing', async (setup) => {
      const started = new StartedAgent(setup, 'process');
      await setup.until(() => started.over && started.link?.state === 'closed', 'its failure');
      // Where another command starts it, that one exits.
      const told = [started.errors.length + started.exits.length, started.reported.length];
      same('number of errors and exits together, and of what its link tells', told, [1, 1]);
      same('errors without a known code, or a message', started.badErrors, []);
    });

    promises({ promise: 'exits' }, 'exits', async (setup) => {
      const started = new StartedAgent(setup, 'process');
      await setup.until(() => started.over && started.link?.state === 'closed', 'its end');
      same('errors and exits', [started.errors, started.exits], [[], ['3']]);
      same('what has ended', started.evidence ?? 'process', 'process');
      assert.ok(!started.reported.includes(`up ${ROOT}`), 'its link comes up');
    });

    promises({ promise: 'speaks' }, 'speaks', async (setup) => {
      const started = new StartedAgent(setup, 'process');
      await setup.until(() => started.over && started.lines.length > 0, 'its end, and its line');
      same('lines, errors and exits', [started.lines, started.errors, started.exits], [[SPOKEN], [], ['103']]);
    });

    promises({ promise: 'silent' }, 'silent', async (setup) => {
      const started = new StartedAgent(setup, 'process', false);
      started.agent.kill();
      await setup.until(() => started.over, 'its end');
      same('errors and exits, after kill', [started.errors, started.exits], [[], ['SIGKILL']]);
    });
  });
}

/** As JSON, in a message of one line. */
export function same(what: string, found: unknown, expected: unknown): void {
  const [got, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
  assert.ok(got === wanted, `${what}: ${got}, expected ${wanted}`);
}

const REACHED_BYTES = 2 * 1024 * 1024;
const CHUNK_BYTES = 50_000;

class Reaching {
  readonly reports: string[] = [];
  readonly connection: AgentProcess;
  readonly recorder: Recorder;

  constructor({ launcherProc }: ReachSetup, host: string, path: string) {
    this.connection = launcherProc.reach({ host: { ...HOST, name: host }, path }, {
      onError: ({ data }) => void this.reports.push(String(data?.['reach'])),
      onDiagnostic: () => undefined,
      onExit: ({ evidence }) => void this.reports.push(`exit ${evidence}`),
    });
    this.recorder = new Recorder(this.connection.channel);
  }

  get isOver(): boolean {
    return this.reports.length > 0 && this.recorder.closed;
  }
}

/** Bytes that the receiver can check. */
function pattern(from: number): Uint8Array {
  return Uint8Array.from({ length: CHUNK_BYTES }, (_, i) => (from + i) % 251);
}

/** Sends REACHED_BYTES or a little more; returns the check of what the other end receives. */
function sendAll(channel: Channel, receiver: Recorder): () => boolean {
  let isRight = true;
  let [sent, received] = [0, 0];
  receiver.onChunk = (chunk) => {
    isRight &&= chunk.every((byte, i) => byte === (received + i) % 251);
    received += chunk.length;
  };
  for (; sent < REACHED_BYTES; sent += CHUNK_BYTES) channel.send([pattern(sent)]);
  return () => {
    assert.ok(isRight, 'the bytes that were sent, in order');
    return received === sent;
  };
}

/** Defines the suite `NAME: reach`. */
export function reachCompliance(name: string, make: () => ReachSetup | Promise<ReachSetup>): void {
  suite(`${name}: reach`, (test) => {
    const reaching = (promise: LauncherProcExample['promise'], body: (setup: ReachSetup) => Promise<void>): void => {
      test(promise, () => promised(LAUNCHERPROC, { promise }, async () => {
        const setup = await make();
        try {
          await body(setup);
        } finally {
          await setup.end?.();
        }
      }), { timeoutMs: 30_000 });
    };
    const joined = async (setup: ReachSetup): Promise<{ near: Reaching; far: Recorder; channel: Channel }> => {
      const listener = await privateListener(setup.far, setup.until);
      const near = new Reaching(setup, setup.host, listener.path);
      await setup.until(() => listener.accepted.length === 1, 'the connection');
      listener.close();
      const channel = listener.accepted[0] as Channel;
      return { near, far: new Recorder(channel), channel };
    };

    reaching('carries', async (setup) => {
      const { near, far, channel } = await joined(setup);
      const checks = [sendAll(near.connection.channel, far), sendAll(channel, near.recorder)];
      await setup.until(() => checks.every((check) => check()), 'all bytes at both ends');
      const last = sendAll(near.connection.channel, far);
      near.connection.channel.close();
      await setup.until(() => far.closed && near.isOver, 'the end of both');
      same('whether all bytes came, and what is told', [last(), near.reports], [true, ['exit connection']]);
    });

    reaching('ends', async (setup) => {
      const { near, channel } = await joined(setup);
      const last = sendAll(channel, near.recorder);
      channel.close();
      await setup.until(() => near.isOver, 'the end');
      same('whether all bytes came, and what is told', [last(), near.reports], [true, ['exit connection']]);
    });

    reaching('leaves', async (setup) => {
      // Another agent, at another path.
      const [{ near, far }, other] = [await joined(setup), await joined(setup)];
      for (const one of [near, other.near]) one.connection.channel.send([Uint8Array.of(1)]);
      await setup.until(() => far.bytes === 1 && other.far.bytes === 1, 'a byte of each');
      near.connection.kill();
      near.connection.kill();
      await setup.until(() => near.isOver && far.closed, 'the end');
      same('what is told after two kills', near.reports, ['exit connection']);
      const again = await joined(setup);
      for (const one of [other.near, again.near]) one.connection.channel.send([Uint8Array.of(1)]);
      await setup.until(() => other.far.bytes === 2 && again.far.bytes === 1, 'a byte of the other, and of a third');
      for (const one of [other.near, again.near]) one.connection.kill();
      await setup.until(() => other.near.isOver && again.near.isOver, 'the ends of both');
    });

    reaching('dead', async (setup) => {
      const { path, close } = await privateListener(setup.far, setup.until);
      close();
      const near = new Reaching(setup, setup.host, path);
      await setup.until(() => near.isOver, 'the failure');
      same('what is told', near.reports, ['dead']);
    });

    reaching('unreachable', async (setup) => {
      if (setup.unreachable === undefined) return skip('no host is known that cannot be reached');
      const { path, close } = await privateListener(setup.far, setup.until);
      const near = new Reaching(setup, setup.unreachable, path);
      await setup.until(() => near.isOver, 'the failure');
      same('what is told', near.reports, ['unreachable']);
      close();
    });
  });
}
