/**
 * Launch method `together` of the simulation: the agents of all hosts with which a session begins by one program
 * `step`, as a step of a batch system: it has a program `step-host` on each host, which starts the agent there, passes
 * on what that says and prints, and ends it when the step is over. All three programs talk in lines of JSON. What is
 * started or reached later is so by the method `remote`.
 */

import { awaitParent } from '@stci/core/await-parent';
import { accept, defineComponent, launcherprocFramework } from '@stci/core/component';
import type { AgentMainInit } from '@stci/core/main';
import type {
  AgentGroup, AgentProcess, AgentProcessEnd, AgentsEvents, AgentsStart, Channel, Platform, Timer,
} from '@stci/interface';
import { textBytes, type AgentContext, type World } from '@stci/platform-sim';
import type { NextStart } from '../scenarios/faults.js';
import { launcherRemote } from './launcher-remote.js';
import { bytesText } from './text.js';

/** How long a step that is killed may take to end its agents. */
const KILL_MS = 500;

/** How long a host that does not answer keeps what was started there. */
const SILENT_MS = 60_000;

/** What the step is told first. `lateMs`: between the starts on two hosts. */
interface Order {
  readonly hosts: readonly string[];
  /** Of each agent, in hexadecimal digits. */
  readonly keys: readonly string[];
  readonly waitMs: number;
  readonly lateMs: number;
  /** Agents are ended with the step that loses its connection to them; else they may notice it by themselves. */
  readonly ends: boolean;
}

/** What a host's program is told first. */
type HostOrder = Pick<Order, 'waitMs' | 'ends'> & { readonly key: string };

/** What either says. */
interface Word {
  readonly place?: readonly string[];
  readonly failed?: string;
  readonly line?: string;
  readonly exit?: AgentProcessEnd;
}

type StepWord = Word & { readonly at: number };

export const launcherTogether = defineComponent({
  framework: launcherprocFramework,
  name: 'together',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Agents on simulated hosts, all by one simulated step of a batch system.',
  params: {
    late: { type: 'duration', default: 0, min: 0, max: 3_600_000, help: 'Between the starts on two hosts.' },
    ends: { type: 'bool', default: true, help: 'Whether agents end with the program that started them.' },
  },
  query: () => accept(0),
  create: (deps, params, request) => ({
    ...launcherRemote.create(deps, { login: 0, gap: 0 }, request),
    name: 'together',
    startAll: (start, events) => startStep(deps.platform, start, events, {
      lateMs: params['late'] as number, ends: params['ends'] as boolean,
    }),
  }),
});

/** Puts the programs on all hosts. `isBad`: why the next start on a host fails. */
export function installStep(world: World, isBad: (host: string) => ReturnType<NextStart>): void {
  world.program('step', stepMain);
  world.program('step-host', (context) => {
    const { hostname } = context.platform.env;
    const kind = isBad(hostname);
    if (kind === undefined) return hostMain(context);
    if (kind === 'silent') {
      // Its connection may be cut for ever.
      context.platform.clock.after(SILENT_MS, () => context.exit(1));
      return readLines(context.channel, () => undefined, () => context.exit(1));
    }
    context.diagnostic(`${hostname}: refused`);
    context.exit(1);
  });
}

function startStep(
  { processes, secrets, clock }: Platform,
  { agents, waitMs }: AgentsStart,
  events: AgentsEvents,
  how: Pick<Order, 'lateMs' | 'ends'>,
): AgentGroup {
  const keys = agents.map(() => secrets.bytes(32));
  const told = new Told(keys, events);
  let timer: Timer | undefined;
  // What was said before the end is read before it is told.
  let rest = 2;
  const over = (text: string): void => {
    if (--rest > 0) return;
    timer?.cancel();
    told.over(text);
  };
  const step = processes.spawnAgent('process', ['step'], {
    onError: ({ message }) => over(message),
    onDiagnostic: (line) => events.onDiagnostic(undefined, line),
    onExit: () => over('the step has ended'),
  });
  readLines(step.channel, (word) => told.onWord(word as StepWord), () => over('the step has ended'));
  const order: Order = { hosts: agents.map(({ host }) => host.name), keys: keys.map(toHex), waitMs, ...how };
  say(step.channel, order);
  return {
    get phase() {
      return `${told.count} of ${agents.length} agents wait`;
    },
    kill: () => {
      say(step.channel, { kill: true });
      timer ??= clock.after(KILL_MS, () => step.kill());
    },
  };
}

/** What the events of a step's agents were. */
class Told {
  readonly #keys: readonly Uint8Array[];
  readonly #events: AgentsEvents;
  /** Agents of which nothing was told. */
  readonly #open: Set<number>;
  /** Those that have failed, or whose end was told. */
  readonly #exited = new Set<number>();

  constructor(keys: readonly Uint8Array[], events: AgentsEvents) {
    this.#keys = keys;
    this.#events = events;
    this.#open = new Set(keys.keys());
  }

  get count(): number {
    return this.#keys.length - this.#open.size;
  }

  onWord({ at, place, failed, line, exit }: StepWord): void {
    const events = this.#events;
    if (line !== undefined) events.onDiagnostic(at, line);
    else if (place !== undefined && this.#open.delete(at)) {
      events.onPlace(at, { addresses: place, key: this.#keys[at] as Uint8Array });
    } else if (failed !== undefined && this.#open.delete(at)) this.#fail(at, failed);
    else if (exit !== undefined && !this.#open.has(at) && !this.#exited.has(at)) {
      this.#exited.add(at);
      events.onExit(at, exit);
    }
  }

  over(text: string): void {
    for (const at of this.#open) this.#fail(at, text);
    this.#events.onOver();
  }

  #fail(at: number, message: string): void {
    this.#exited.add(at);
    this.#events.onFailed(at, { code: 'STCI_LAUNCH_FAILED', message });
  }
}

function stepMain(context: AgentContext): void {
  const hosts: AgentProcess[] = [];
  let left = 0;
  const start = ({ hosts: names, keys, waitMs, ends }: Order, at: number): void => {
    const name = names[at] as string;
    let hasEnded = false;
    const tell = (word: Word): void => say(context.channel, { at, ...word });
    const end = (failed = `the step on host ${name} has ended`): void => {
      if (hasEnded) return;
      hasEnded = true;
      tell({ failed });
      tell({ exit: { status: 1, evidence: 'connection' } });
      if (--left === 0) context.exit(0);
    };
    const process = context.startOn(name, ['step-host'], {
      onError: ({ message }) => end(message),
      onDiagnostic: (line) => tell({ line }),
      onExit: () => end(),
    });
    hosts.push(process);
    readLines(process.channel, (word) => tell(word as Word), () => end());
    const order: HostOrder = { key: keys[at] as string, waitMs, ends };
    say(process.channel, order);
  };
  readLines(context.channel, (word) => {
    if (!('hosts' in word)) {
      for (const { channel } of hosts) say(channel, { kill: true });
      return;
    }
    const order = word as Order;
    left = order.hosts.length;
    for (const at of order.hosts.keys()) {
      if (order.lateMs === 0) start(order, at);
      else context.platform.clock.after(at * order.lateMs, () => start(order, at));
    }
  }, () => {
    for (const host of hosts) host.kill();
    context.exit(1);
  });
}

/** The program `step-host`. */
function hostMain(context: AgentContext): void {
  const { channel, platform, exit } = context;
  let agent: AgentProcess | undefined;
  let ends = true;
  let isOrphan = false;
  const tell = (word: Word): void => {
    if (!isOrphan) say(channel, word);
  };
  const start = (order: HostOrder): void => {
    ends = order.ends;
    const command = [...platform.processes.agentCommand, 'waits', order.key, String(order.waitMs)];
    agent = platform.processes.spawnAgent('process', command, {
      onError: ({ message }) => {
        tell({ failed: message });
        leave();
      },
      onDiagnostic: (line) => tell({ line }),
      onExit: (end) => {
        tell({ failed: 'its agent has ended' });
        tell({ exit: end });
        leave();
      },
    });
    readLines(agent.channel, (word) => tell(word as Word), () => undefined);
  };
  /** When what was said is sent. */
  const leave = (): void => {
    if (isOrphan) return exit(0);
    channel.close();
    platform.clock.after(KILL_MS, () => exit(0));
  };
  readLines(channel, (word) => {
    if ('key' in word) start(word as HostOrder);
    else agent?.kill();
  }, () => {
    isOrphan = true;
    if (agent === undefined) exit(1);
    else if (ends) agent.kill();
    else agent.channel.close();
  });
}

/** The channel and the rest of what an agent needs that such a step has started; undefined for any other. */
export function waitingAgent(
  { args, channel, platform }: AgentContext,
): Pick<AgentMainInit, 'channel' | 'waitMs' | 'listens'> | undefined {
  const [word, key = '', waitMs] = args;
  if (word !== 'waits') return undefined;
  const wait = { key: fromHex(key), interfaces: [], waitMs: Number(waitMs) };
  const awaited = awaitParent(platform, { ...wait, say: (place) => say(channel, { place }) });
  readLines(channel, () => undefined, () => awaited.giveUp('what started this agent has ended'));
  return { channel: awaited.channel, waitMs: wait.waitMs, listens: { interfaces: [] } };
}

function say(channel: Channel, word: object): void {
  channel.send([textBytes(`${JSON.stringify(word)}\n`)]);
}

function readLines(channel: Channel, onWord: (word: object) => void, onClose: () => void): void {
  let rest = '';
  channel.bind({
    onData: (chunk) => {
      const lines = `${rest}${bytesText(chunk)}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onWord(JSON.parse(line) as object);
    },
    onDrain: () => undefined,
    onClose,
  });
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}
