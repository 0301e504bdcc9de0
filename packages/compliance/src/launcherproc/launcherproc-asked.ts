/**
 * What a launcherproc makes of what it is asked: on a platform that notes each call, over a simulated host where the
 * agent is missing, ends at once, or stays; so it is the same where agents are started by programs of their own.
 */

import { formatValue } from '@stci/core';
import { memoryChannel } from '@stci/core/bootcom';
import type {
  AgentMethod, AgentProcess, AgentProcessEvents, AgentStart, Component, LauncherProc, LauncherProcDeps,
  LauncherProcRequest, ParamSpec, ParamValue, Platform,
} from '@stci/interface';
import { createWorld, type AgentContext, type World } from '@stci/platform-sim';
import * as assert from '../kit/assert.js';
import { boundsOf, paramsOf } from '../kit/component-record.js';
import { frozen } from '../kit/frozen.js';
import { Recorder } from '../platform/channel.js';
import { HOST, HOST_NAMES, ROOT, same } from './launcherproc.js';

export type LauncherProcComponent = Component<LauncherProc, LauncherProcDeps, LauncherProcRequest>;

/** Parameters of the component, by short name, as a user sets them. */
type Values = Readonly<Record<string, string>>;

const HOSTS = HOST_NAMES.map((name, index) => ({ ...HOST, name, slots: 1 + index }));
const WAIT_MS = 1234;
/** So long what was started is left alone, virtual. */
const QUIET_MS = 120_000;
const EVENTS_MAX = 1_000_000;

/** Programs of the agent's name. */
const AGENTS: readonly (((context: AgentContext) => void) | undefined)[] = [
  undefined,
  ({ exit }) => exit(3),
  ({ platform }) => void platform.clock.after(10 * QUIET_MS, () => undefined),
];

/** What was asked of the platform, and what was told, in this order. */
type Notes = string[];

/** A user of one instance; `notes`: from when it was made. */
interface Asked {
  readonly notes: Notes;
  readonly world: World;
  readonly platform: Platform;
  readonly launcherProc: LauncherProc;
  readonly events: AgentProcessEvents;
}

type Inline = (start: AgentStart, events: AgentProcessEvents, platform: Platform) => AgentProcess;

interface AskedInit {
  readonly set: Values;
  /** Parameters of another instance, made after it. */
  readonly beside?: Values | undefined;
  readonly main?: ((context: AgentContext) => void) | undefined;
  readonly inline?: Inline;
}

function asked(component: LauncherProcComponent, { set, beside, main, inline }: AskedInit): Asked {
  const notes: Notes = [];
  const note = (what: string, ...given: unknown[]): void => void notes.push(`${what} ${textOf(given)}`);
  const world = createWorld({ seed: 1 });
  if (main !== undefined) world.program('stci-agent', main);
  const platform = noting(world.platform('h'), note);
  const create = (one: Values): LauncherProc => component.create({
    platform,
    inline: (start, events) => {
      note('inline', start);
      return inline?.(start, events, platform) ?? idle(platform);
    },
    leaseMs: 10_000,
  }, Object.freeze(paramsOf(component, one)), { hosts: HOSTS });
  const launcherProc = create(set);
  if (beside !== undefined) create(beside);
  const events: AgentProcessEvents = {
    onError: (error) => note('error', error),
    onDiagnostic: (line) => note('line', line),
    onExit: (end) => note('exit', end),
  };
  return { notes, world, platform, launcherProc, events };
}

function idle({ clock }: Platform): AgentProcess {
  const [channel] = memoryChannel(clock, 'inline', 'nobody');
  return { pid: 0, channel, kill: () => undefined };
}

/** The parts' calls are noted, and made. */
function noting(platform: Platform, note: (what: string, ...given: unknown[]) => void): Platform {
  const part = (name: string, made: object): object => new Proxy(Object.create(made) as object, {
    get: (_, key) => {
      const found: unknown = Reflect.get(made, key);
      if (typeof found !== 'function') return found;
      return (...given: unknown[]): unknown => {
        note(`${name}.${String(key)}`, ...given);
        return Reflect.apply(found, made, given);
      };
    },
  });
  const parts = Object.entries(platform).map(([name, made]: [string, unknown]) =>
    [name, typeof made === 'object' && made !== null && name !== 'env' ? part(name, made) : made]);
  return Object.fromEntries(parts) as Platform;
}

function textOf(given: readonly unknown[]): string {
  return JSON.stringify(given, (_, value: unknown) => (typeof value === 'function' ? 'a function' : value));
}

function run({ world }: Asked): void {
  world.run({ untilMs: world.nowMs + QUIET_MS, maxEvents: EVENTS_MAX });
  const [fault] = world.faults;
  if (fault !== undefined) throw fault.error;
}

const bound = { onData: () => undefined, onDrain: () => undefined, onClose: () => undefined };

/** Starts agents, and reaches one; with each of the programs. A refusal is noted, too. */
function notesOf(component: LauncherProcComponent, set: Values, beside?: Values): string {
  return AGENTS.map((main) => {
    try {
      const user = asked(component, { set, beside, main });
      const { launcherProc, events } = user;
      const made = HOSTS.slice(0, 3).map((host) =>
        launcherProc.start({ address: ROOT, host, method: 'process', waitMs: WAIT_MS }, events));
      made.push(launcherProc.reach({ host: HOSTS[0]!, path: '/none', waitMs: WAIT_MS }, events));
      for (const { channel } of made) channel.bind(bound);
      run(user);
      for (const agent of made) agent.kill();
      run(user);
      return user.notes.join('\n');
    } catch (error) {
      return REFUSED + String(error);
    }
  }).join('\n');
}

const REFUSED = 'refused: ';

/** Values of which two differ; all of a list, or of a text, do. */
function valuesOf(spec: ParamSpec, now: ParamValue): readonly ParamValue[] {
  const { type, min = 0, max = Infinity } = spec;
  if (type === 'list') return [[], ['one'], ['one', 'two'], ['two']];
  if (type === 'string') return [`${String(now)}one`, 'two'];
  if (typeof now !== 'number') return boundsOf(spec);
  return [...boundsOf(spec), Math.max(min, Math.floor(now / 2)), Math.min(max, 2 * now + 1)];
}

/** Each parameter by itself: it changes what is noted of this instance, and of no other. */
export function checkParams(component: LauncherProcComponent, set: Values = {}): void {
  const given = paramsOf(component, set);
  const before = notesOf(component, set);
  for (const [name, spec] of Object.entries(component.params)) {
    const values = valuesOf(spec, given[name]!).map((value) => formatValue(spec, value));
    const found = new Map<string, string>();
    for (const value of new Set([formatValue(spec, given[name]!), ...values])) {
      const other = { ...set, [name]: value };
      if (!isTaken(component, other)) continue;
      const notes = notesOf(component, other);
      const like = found.get(notes);
      const isEach = (spec.type === 'list' || spec.type === 'string') && !notes.startsWith(REFUSED);
      assert.ok(like === undefined || !isEach, `${name}=${value} is as ${name}=${like}, for all that is asked`);
      found.set(notes, value);
      assert.ok(notesOf(component, set, other) === before, `another instance, with ${name}=${value}, changes it`);
      assert.ok(notesOf(component, other, set) === notes, `${name}=${value} is changed by another instance`);
    }
    assert.ok(found.size !== 1 || values.length < 2, `${name} changes nothing`);
  }
}

function isTaken(component: LauncherProcComponent, set: Values): boolean {
  try {
    const params = Object.freeze({ ...paramsOf(component, set) });
    return component.query({ params, request: { hosts: HOSTS }, facts: Object.freeze({}), named: true }).accept;
  } catch {
    return false;
  }
}

const STARTS: Readonly<Record<AgentMethod, RegExp>> = {
  process: /^processes\.spawn(Agent \["process"| )/,
  thread: /^processes\.spawnAgent \["thread"/,
  inline: /^inline /,
};

/** One agent, by this method and by no other. */
export function checkMethod(component: LauncherProcComponent, set: Values, method: AgentMethod): void {
  if (method === 'inline') return checkInline(component, set);
  for (const host of HOSTS) {
    const user = asked(component, { set });
    user.launcherProc.start(frozen({ address: ROOT, host, method }), user.events).channel.bind(bound);
    run(user);
    const by = (Object.keys(STARTS) as AgentMethod[]).filter((one) =>
      user.notes.some((line) => STARTS[one].test(line)));
    same(`how an agent at ${host.name} is started`, by, [method]);
  }
}

const ERROR = { code: 'STCI_LAUNCH_FAILED', message: 'The suite starts no agent.', data: { why: 'suite' } } as const;
const END = { status: 3, evidence: 'process' } as const;

/** What is passed to `inline`, and by its agent, comes through as it is. */
function checkInline(component: LauncherProcComponent, set: Values): void {
  const agents: { events: AgentProcessEvents; recorder: Recorder; kills: number }[] = [];
  const user = asked(component, {
    set,
    inline: (_start, events, { clock }) => {
      const [channel, far] = memoryChannel(clock, 'inline', 'parent');
      const agent = { events, recorder: new Recorder(far), kills: 0 };
      agents.push(agent);
      return { pid: 7, channel, kill: () => void agent.kills++ };
    },
  });
  const { launcherProc, notes } = user;
  const starts = HOSTS.map((host, index) => {
    const wait = index % 2 === 1 && { waitMs: WAIT_MS };
    return frozen({ address: ROOT + 4 * index, host, method: 'inline' as const, ...wait });
  });
  const told: unknown[][] = [];
  const made = starts.map((start, index) => {
    const tell = (...what: unknown[]): void => void (told[index] ??= []).push(...what);
    const agent = launcherProc.start(start, { onError: tell, onDiagnostic: tell, onExit: tell });
    agent.channel.bind(bound);
    agent.channel.send([new Uint8Array(index + 1)]);
    return agent;
  });
  run(user);
  same('what inline is passed', notes.filter((line) => STARTS.inline.test(line)),
    starts.map((start) => `inline ${textOf([start])}`));
  const others = notes.filter((line) => STARTS.process.test(line) || STARTS.thread.test(line));
  same('processes and threads besides', others, []);
  for (const { events } of agents) {
    events.onDiagnostic('a line');
    events.onDiagnostic('another');
  }
  for (const [index, { events }] of agents.entries()) {
    if (index % 2 === 0) events.onExit(END);
    else events.onError(ERROR);
  }
  made[1]?.kill();
  run(user);
  same('what is told', told, agents.map((_, index) => ['a line', 'another', index % 2 === 0 ? END : ERROR]));
  same('bytes that come to each', agents.map(({ recorder }) => recorder.bytes), agents.map((_, index) => index + 1));
  const kills = agents.map((agent) => Math.min(1, agent.kills));
  same('which one is killed', kills, agents.map((_, index) => Number(index === 1)));
}

/** The path and the time of `reach` make a difference, also to one that has reached another. */
export function checkReach(component: LauncherProcComponent, set: Values): void {
  const reach = (...all: readonly { readonly path: string; readonly waitMs: number }[]): Notes => {
    const user = asked(component, { set });
    for (const what of all) {
      user.notes.length = 0;
      const made = user.launcherProc.reach(frozen({ host: HOSTS[0]!, ...what }), user.events);
      made.channel.bind(bound);
      run(user);
      assert.is(made.isConnection, true, 'the process that reach returns says that it is a connection:');
    }
    return user.notes;
  };
  const one = { path: '/none/one', waitMs: WAIT_MS };
  for (const other of [{ ...one, path: '/none/two' }, { ...one, waitMs: 10 * WAIT_MS }]) {
    const notes = reach(other);
    const name = other.path === one.path ? 'waitMs' : 'path';
    assert.ok(textOf(notes) !== textOf(reach(one)), `${name} makes no difference to what it asks`);
    same('what it asks for another one, when it has reached one', reach(one, other), notes);
  }
}

/** The launcherproc has the name of its component. */
export function checkName(component: LauncherProcComponent, set: Values): void {
  assert.is(asked(component, { set }).launcherProc.name, component.name, 'its name is that of its component:');
}
