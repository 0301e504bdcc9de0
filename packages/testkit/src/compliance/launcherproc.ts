/**
 * Requirements on every launcherproc: an agent started by each of its methods comes up over the channel that `start`
 * returned, and every failure is reported exactly once, by `onError` or by `onExit`.
 */

import { Link, encodeBootDetails, encodeBootRecord, encodeParams } from '@stci/core/bootcom';
import {
  CONTROLLER,
  rootAddress,
  type AgentMethod,
  type AgentProcess,
  type LauncherProc,
  type Platform,
} from '@stci/interface';
import * as assert from '../assert.js';
import { suite } from '../suite.js';
import type { Until } from './channel.js';

/** Agents that do not behave like one. */
export type BadAgent = 'missing' | 'exits' | 'silent';

export interface LauncherProcSetup {
  readonly launcherProc: LauncherProc;
  readonly platform: Pick<Platform, 'clock' | 'secrets'>;
  /** Parameters for the agent's boot record. */
  readonly params: Readonly<Record<string, number | boolean | string | readonly string[]>>;
  readonly until: Until;
  end?(): void | Promise<void>;
}

export interface LauncherProcCase {
  /** Methods that start a real agent. */
  readonly methods: readonly AgentMethod[];
  /** Which misbehaving agent is started; undefined: a real one. */
  make(bad?: BadAgent): LauncherProcSetup | Promise<LauncherProcSetup>;
}

const ROOT = rootAddress(0);
const HOST = { name: 'localhost', slots: 1, slotsBound: false, origin: 'test' };
const LIMITS = { frameBytesMax: 1024 * 1024, queueBytesMax: 1024 * 1024, handshakeMs: 10_000, leaseMs: 10_000 };

class Starting {
  readonly errors: string[] = [];
  readonly exits: string[] = [];
  readonly reported: string[] = [];
  readonly agent: AgentProcess;
  link: Link | undefined;

  constructor(setup: LauncherProcSetup, method: AgentMethod, speak = true) {
    const start = { address: ROOT, host: HOST, method };
    this.agent = setup.launcherProc.start(start, {
      onError: (error) => void this.errors.push(error.code),
      onDiagnostic: () => undefined,
      onExit: (end) => void this.exits.push(end.signal ?? String(end.status)),
    });
    if (speak) this.#bootUp(setup);
    else this.agent.channel.bind({ onData: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  }

  get over(): boolean {
    return this.errors.length + this.exits.length > 0;
  }

  #bootUp({ platform, params }: LauncherProcSetup): void {
    const { clock, secrets } = platform;
    const [session, secret] = [new Uint8Array(8), new Uint8Array(32).fill(3)];
    const details = encodeBootDetails({ host: 0, hosts: 1, arity: 1, subtree: [['localhost', '']], connect: [],
      params: encodeParams(params) });
    const record = { session, secret, self: ROOT, job: 0, parent: CONTROLLER, start: 7, nativeLink: true, details };
    const { frameBytesMax } = LIMITS;
    this.agent.channel.send([encodeBootRecord({ ...record, frameBytesMax, handshakeMs: 10_000, leaseMs: 10_000 })]);
    const handshake = { role: 'accept' as const, self: CONTROLLER, session, secret, secrets, admit: () => undefined };
    this.link = new Link({ role: 'child', channel: this.agent.channel, clock, handshake, limits: LIMITS }, {
      onUp: ({ peer }) => void this.reported.push(`up ${peer}`),
      onFrame: () => undefined,
      onDrain: () => undefined,
      onClosed: (_link, reason) => void this.reported.push(reason),
    });
  }
}

/** Defines the suite `NAME: launcherproc`. */
export function launcherProcCompliance(name: string, what: LauncherProcCase): void {
  const using = async (bad: BadAgent | undefined, body: (setup: LauncherProcSetup) => Promise<void>): Promise<void> => {
    const setup = await what.make(bad);
    try {
      await body(setup);
    } finally {
      await setup.end?.();
    }
  };
  suite(`${name}: launcherproc`, (test) => {
    for (const method of what.methods) {
      test(`${method}: boot record, link up; closing the link ends the agent, reported once`, () => using(undefined,
        async (setup) => {
        const started = new Starting(setup, method);
        assert.ok(!started.over, 'no event during start itself');
        await setup.until(() => started.reported.length > 0, 'the link');
        assert.equal([started.reported, started.agent.pid > 0], [[`up ${ROOT}`], true]);
        started.link?.close();
        await setup.until(() => started.over, 'its end');
        assert.equal([started.errors, started.exits.length], [[], 1]);
      }));

      test(`${method}: kill ends it, reported once`, () => using(undefined, async (setup) => {
        const started = new Starting(setup, method);
        await setup.until(() => started.reported.length > 0, 'the link');
        started.agent.kill();
        started.agent.kill();
        await setup.until(() => started.over && started.link?.state === 'closed', 'its end');
        assert.equal([started.errors, started.exits.length, started.reported.length], [[], 1, 2]);
      }));
    }

    test('a command that is missing is one error and a closed channel', () => using('missing', async (setup) => {
      const started = new Starting(setup, 'process');
      await setup.until(() => started.over && started.link?.state === 'closed', 'its failure');
      assert.equal([started.errors.length, started.exits], [1, []]);
    }));

    test('an agent that exits at once is one exit', () => using('exits', async (setup) => {
      const started = new Starting(setup, 'process');
      await setup.until(() => started.over && started.link?.state === 'closed', 'its end');
      assert.equal([started.errors, started.exits], [[], ['3']]);
      assert.not.ok(started.reported.includes(`up ${ROOT}`));
    }));

    test('a silent agent is ended by kill', () => using('silent', async (setup) => {
      const started = new Starting(setup, 'process', false);
      started.agent.kill();
      await setup.until(() => started.over, 'its end');
      assert.equal([started.errors, started.exits], [[], ['SIGKILL']]);
    }));
  });
}
