/**
 * Requirements on launcherprocs that start the agents of many hosts by one call: each says where it waits, to those who
 * have its key alone; each end is told once; nothing is left.
 */

import type { AgentGroup, AgentPlace, AgentProcessEnd, Channel, ErrorRecord, Platform } from '@stci/interface';
import type { Link } from '@stci/core/bootcom';
import * as assert from '../kit/assert.js';
import { promised } from '../kit/counterexample.js';
import { suite } from '../kit/suite.js';
import { HOST, LAUNCHERPROC, ROOT, bootUp, same, type LauncherProcSetup } from './launcherproc.js';

export interface StartAllSetup extends Pick<LauncherProcSetup, 'launcherProc' | 'params' | 'until' | 'end'> {
  readonly platform: Pick<Platform, 'clock' | 'secrets' | 'network'>;
  /** Names of hosts on which agents come up: two or more. */
  readonly hosts: readonly string[];
  /** A host on which none does; undefined: there is none. */
  readonly bad?: string;
  /** Lets so much time pass. */
  pass(ms: number): Promise<void>;
  /** How long agents are to wait that nobody connects to, ms: all have come up by then. */
  readonly shortMs: number;
}

const CONNECT_MS = 8000;
const LONG_MS = 60_000;

/** What was told of agents that were started together. */
class Started {
  readonly places = new Map<number, AgentPlace>();
  readonly failures: [number, ErrorRecord][] = [];
  readonly exits = new Map<number, AgentProcessEnd[]>();
  /** Events in order, but diagnostics. */
  readonly told: string[] = [];
  readonly group: AgentGroup;
  readonly #setup: StartAllSetup;
  #hasReturned = false;

  constructor(setup: StartAllSetup, hosts: readonly string[], waitMs = LONG_MS) {
    this.#setup = setup;
    const { launcherProc } = setup;
    const tell = (word: string): void => {
      assert.ok(this.#hasReturned, 'no event during startAll itself');
      this.told.push(word);
    };
    assert.ok(launcherProc.startAll !== undefined, 'it has startAll');
    const agents = hosts.map((name) => ({ address: ROOT, host: { ...HOST, name } }));
    this.group = launcherProc.startAll({ agents, waitMs }, {
      onPlace: (index, place) => {
        tell(`place ${index}`);
        this.places.set(index, place);
      },
      onFailed: (index, error) => {
        tell(`failed ${index}`);
        this.failures.push([index, error]);
      },
      onDiagnostic: () => undefined,
      onExit: (index, end) => {
        tell(`exit ${index}`);
        this.exits.set(index, [...(this.exits.get(index) ?? []), end]);
      },
      onEnding: ({ message }) => tell(`ending: ${message}`),
      onOver: () => tell('over'),
    }) as AgentGroup;
    this.#hasReturned = true;
  }

  get isOver(): boolean {
    return this.told.includes('over');
  }

  async settled(count: number): Promise<void> {
    await this.#setup.until(() => this.places.size + this.failures.length === count, 'a word of each agent');
  }

  /** Each agent's words are told once, and the end after all else. */
  async over(): Promise<void> {
    await this.#setup.until(() => this.isOver, 'the end of what started them');
    await this.#setup.pass(100);
    same('what is told, each once', this.told, [...new Set(this.told)]);
    same('what is told last', this.told.at(-1), 'over');
    for (const index of this.exits.keys()) assert.ok(this.places.has(index), 'an exit follows a place');
  }

  place(index: number): AgentPlace {
    return this.places.get(index) as AgentPlace;
  }

  /** Connects as a parent does. */
  async link(index: number): Promise<{ readonly link: Link; readonly reported: string[] }> {
    const channel = await this.connect(this.place(index));
    assert.ok(channel !== undefined, 'who has the key connects');
    const reported: string[] = [];
    const link = bootUp(this.#setup, channel, reported);
    await this.#setup.until(() => reported.length > 0, 'the link');
    same('what the link tells', reported, [`up ${ROOT}`]);
    return { link, reported };
  }

  /** Undefined: it is not possible. */
  async connect({ addresses, key }: AgentPlace): Promise<Channel | undefined> {
    for (const address of addresses) {
      let result: ErrorRecord | 'connected' | undefined;
      const channel = this.#setup.platform.network.connect(address, CONNECT_MS, key, (error) => {
        result = error ?? 'connected';
      });
      await this.#setup.until(() => result !== undefined, 'a connection');
      if (result === 'connected') return channel;
    }
    return undefined;
  }
}

/** Defines the suite `NAME: startAll`. */
export function startAllCompliance(name: string, make: () => StartAllSetup | Promise<StartAllSetup>): void {
  suite(`${name}: startAll`, (test) => {
    type Promises = 'places' | 'waits' | 'group' | 'failed';
    type Start = (setup: StartAllSetup, hosts: readonly string[], waitMs?: number) => Started;
    const promises = (promise: Promises, body: (setup: StartAllSetup, start: Start) => Promise<void>): void => {
      test(promise, () => promised(LAUNCHERPROC, { promise }, async () => {
        const setup = await make();
        let started: Started | undefined;
        try {
          await body(setup, (...args) => (started = new Started(...args)));
        } finally {
          started?.group.kill();
          await setup.end?.();
        }
      }), { timeoutMs: 60_000 });
    };

    promises('places', async (setup, start) => {
      const started = start(setup, setup.hosts);
      await started.settled(setup.hosts.length);
      same('failures', started.failures, []);
      const keys = [...started.places.values()].map(({ key }) => key);
      for (const { addresses } of started.places.values()) assert.ok(addresses.length > 0, 'an address for each');
      same('bytes of the keys', keys.map(({ length }) => length), keys.map(() => 32));
      assert.is(new Set(keys.map(String)).size, keys.length, 'a key of its own for each');
      const stranger = await started.connect({ ...started.place(0), key: started.place(1).key });
      assert.is(stranger, undefined, 'the key of another agent');
      for (const index of setup.hosts.keys()) {
        const { link, reported } = await started.link(index);
        assert.is(await started.connect(started.place(index)), undefined, 'a second connection');
        link.close();
        await setup.until(() => reported.length === 2 && started.exits.has(index), 'its end');
        const ends = started.exits.get(index)?.map(({ status, evidence = 'process' }) => [status, evidence]);
        same(`ends of agent ${index}`, ends, [[0, 'process']]);
      }
      await started.over();
    });

    promises('waits', async (setup, start) => {
      const started = start(setup, setup.hosts, setup.shortMs);
      await started.settled(setup.hosts.length);
      same('failures, and number of exits', [started.failures, started.exits.size], [[], 0]);
      await started.over();
      same('number of exits', started.exits.size, setup.hosts.length);
      assert.is(await started.connect(started.place(0)), undefined, 'a connection when the time is over');
    });

    promises('group', async (setup, start) => {
      const started = start(setup, setup.hosts);
      await started.settled(setup.hosts.length);
      const { link } = await started.link(0);
      started.group.kill();
      started.group.kill();
      await started.over();
      await setup.until(() => link.state === 'closed', 'the end of the link');
      same('failures', started.failures, []);
      assert.is(await started.connect(started.place(1)), undefined, 'a connection to one that has waited');
    });

    promises('failed', async (setup, start) => {
      if (setup.bad === undefined) return;
      const hosts = [...setup.hosts, setup.bad];
      const started = start(setup, hosts);
      await started.settled(hosts.length);
      const failures = started.failures.map(([index, { message }]) => [index, message.length > 0]);
      same('who has failed, and whether it says why', failures, [[setup.hosts.length, true]]);
      await started.link(0);
      started.group.kill();
      await started.over();
    });
  });
}
