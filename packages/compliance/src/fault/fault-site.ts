/**
 * The agent of a fault's part, for the suite of faults: it carries each action out at once or late, or refuses it, and
 * keeps what is left. Pure, with a virtual clock.
 */

import type {
  FaultAction, FaultEvent, FaultModule, FaultOrder, FaultPart, FaultPlace, FaultVictim, Impairment,
} from '@stci/interface';
import { MachineNet, NetAgent } from '../kit/machine-net.js';

/** Sessions by name: `chain` is three hosts, a chain below the controller, two ranks on each. */
export const PLACES = {
  chain: placeOf({ hosts: 3 }),
  'host 0 is down': placeOf({ hosts: 3, down: [0] }),
  'host 1 is down': placeOf({ hosts: 3, down: [1] }),
  'host 2 is down': placeOf({ hosts: 3, down: [2] }),
  'hosts 1 and 2 are down': placeOf({ hosts: 3, down: [1, 2] }),
  'all ranks have ended': placeOf({ hosts: 3, ranks: 0 }),
  flat: placeOf({ hosts: 3, arity: 3 }),
  large: placeOf({ hosts: 100, arity: 8, down: [65] }),
} as const;

export type PlaceName = keyof typeof PLACES;

interface PlaceInit {
  readonly hosts: number;
  readonly arity?: number;
  readonly ranks?: number;
  readonly down?: readonly number[];
}

/** A k-ary tree. The ranks of a host that is down are lost. */
function placeOf({ hosts, arity = 1, ranks = 2 * hosts, down = [] }: PlaceInit): FaultPlace {
  const isUp = (host: number): boolean => host >= 0 && host < hosts && !down.includes(host);
  const parent = (position: number): number | undefined =>
    (position === 0 ? undefined : Math.floor((position - 1) / arity));
  const depth = (position: number): number => (position === 0 ? 0 : 1 + depth(parent(position) ?? 0));
  const hostOf = (rank: number): number | undefined =>
    (rank >= 0 && rank < ranks && isUp(rank >> 1) ? rank >> 1 : undefined);
  return Object.freeze({ hosts, isUp, hostOf, depth, parent });
}

/** Victims of each kind, the simplest first. */
export const VICTIMS: readonly FaultVictim[] = [
  { kind: 'rank', rank: 0 },
  { kind: 'rank', rank: 5 },
  { kind: 'agent', role: 'root', host: 0 },
  { kind: 'agent', role: 'session', host: 2 },
  { kind: 'agent', role: 'controller', host: 0 },
  { kind: 'agent', role: 'front-end', host: 0 },
  { kind: 'host', host: 0 },
  { kind: 'link', ends: [0, 1] },
  { kind: 'link', ends: [2, 3] },
  { kind: 'partition', sets: [[0, 1], [2, 3]] },
  { kind: 'partition', sets: [[0, 1], [2], [3]] },
];

/** Victims of a large session, there and not there. */
export const FAR_VICTIMS: readonly FaultVictim[] = [
  { kind: 'rank', rank: 129 },
  { kind: 'rank', rank: 130 },
  { kind: 'agent', role: 'root', host: 64 },
  { kind: 'agent', role: 'root', host: 65 },
  { kind: 'agent', role: 'session', host: 65 },
  { kind: 'host', host: 64 },
  { kind: 'host', host: 65 },
  { kind: 'link', ends: [66, 9] },
  { kind: 'link', ends: [0, 66] },
  { kind: 'partition', sets: [[0, 1, 2, 3], Array.from({ length: 97 }, (_, index) => 4 + index)] },
];

/** What happened at one agent. */
export interface SiteRun {
  /** `injected`, `undone`, `failed`, in the order in which they were said. */
  readonly said: readonly string[];
  /** Of these, what was said after `undo`. */
  readonly saidLater: readonly string[];
  /** Actions that were to be carried out, with their keys. */
  readonly done: readonly string[];
  /** Actions that the agent cannot carry out. */
  readonly misplaced: readonly string[];
  /** In the end. */
  readonly left: readonly string[];
  /** What is wrong with its times. */
  readonly idle: string | undefined;
}

/** What a part goes through, as its agent has it. */
export interface SitePlan {
  readonly steps: readonly (Exclude<FaultEvent['type'], 'done' | 'due'> | 'wait' | 'done')[];
  /** Actions are done, and told so, at the step `done`, in place of at once. */
  readonly isLate?: boolean;
  /** Of the actions, the one that cannot be carried out; Infinity: none can. */
  readonly refused?: number;
  /** The agent's clock at the beginning. */
  readonly startMs?: number;
  /** So much later than it is due is what is due passed; default: 0. */
  readonly lateMs?: number;
}

export const WHOLE: SitePlan = { steps: ['set-up', 'inject', 'wait', 'undo', 'wait', 'tear-down'] };

type Keyed = Exclude<FaultAction, { readonly type: 'injected' | 'undone' | 'failed' }>;

const EVERYWHERE = ['spawn', 'run', 'end', 'pause'];
const CAN: Readonly<Record<FaultPart['at']['role'], readonly string[]>> = {
  session: [...EVERYWHERE, 'signal', 'exit'],
  root: [...EVERYWHERE, 'impair', 'restore', 'close', 'kill'],
  controller: [...EVERYWHERE, 'impair', 'restore', 'close', 'kill'],
};
const STOPPING = ['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU'];
/** Events of one machine, at most. */
const EVENTS_MAX = 10_000;
/** Duration of what is to be undone. */
const UNDO_MS = 1000;

type SiteAgent = NetAgent<FaultEvent, FaultAction>;

/** Alone on its network, at position 0. */
export class FaultSiteModel extends MachineNet<FaultEvent, FaultAction, SiteAgent> {
  readonly #order: FaultOrder;
  readonly #place: FaultPlace;
  readonly #plan: SitePlan;
  readonly #at: FaultPart['at'];
  readonly #said: string[] = [];
  readonly #saidLater: string[] = [];
  readonly #done: string[] = [];
  readonly #misplaced: string[] = [];
  readonly #left = new Map<string, number>();
  readonly #queue: FaultEvent[] = [];
  readonly #waiting: FaultEvent[] = [];
  #isUndoing = false;
  #idle: string | undefined;
  #events = 0;
  #steps = 0;

  constructor(module: FaultModule, order: FaultOrder, place: FaultPlace, { at, body }: FaultPart, plan: SitePlan) {
    super({ seed: 1, ...plan });
    this.#at = at;
    this.#order = order;
    this.#place = place;
    this.#plan = plan;
    const machine = module.open({ order, body, random: this.random });
    this.agents.set(0, new NetAgent({ position: 0, incarnation: 0 }, machine));
  }

  /** The next step of its plan; false: there was none. */
  next(): boolean {
    const step = this.#plan.steps[this.#steps++];
    if (step === undefined) return false;
    if (step === 'wait') {
      const { timeoutMs, durationMs = 0 } = this.#order;
      this.run(this.nowMs + (this.#isUndoing ? UNDO_MS : timeoutMs + durationMs) + (this.#plan.lateMs ?? 0));
    } else if (step === 'done') for (const event of this.#waiting.splice(0)) this.give(0, event);
    else {
      this.#isUndoing ||= step === 'undo';
      this.give(0, { type: step });
    }
    return true;
  }

  /** Plays the plan to its end. */
  finish(): SiteRun {
    while (this.next());
    const left = [...this.#left].flatMap(([what, endMs]) => (endMs > this.nowMs ? [what] : []));
    return {
      said: this.#said, saidLater: this.#saidLater, done: this.#done, misplaced: this.#misplaced, left,
      idle: this.#idle,
    };
  }

  /** What it does at once is done before anything else happens. */
  protected override on(agent: SiteAgent, event: FaultEvent): void {
    const { machine } = agent;
    const beforeMs = machine.dueMs;
    this.#queue.push(event);
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (++this.#events > EVENTS_MAX) {
        this.#queue.length = 0;
        this.#idle = `more than ${EVENTS_MAX} events`;
        agent.hasTimers = false;
        return;
      }
      super.on(agent, next);
    }
    const { dueMs } = machine;
    if (dueMs !== undefined && !(dueMs >= this.nowMs)) this.#idle = `at ${this.nowMs} ms, dueMs is ${dueMs}`;
    if (event.type === 'due' && dueMs === beforeMs) this.#idle = `dueMs is ${dueMs} before and after 'due'`;
    agent.hasTimers = this.#idle === undefined;
  }

  protected override act(_agent: SiteAgent, action: FaultAction): void {
    if (action.type === 'injected' || action.type === 'undone' || action.type === 'failed') {
      this.#said.push(action.type);
      if (this.#isUndoing) this.#saidLater.push(action.type);
      if (action.type === 'injected' && action.key !== undefined) this.#answer(action.key);
      return;
    }
    this.#answer(action.key, this.#carryOut(action));
  }

  #answer(key: string, problem?: string): void {
    const done = { type: 'done', key, problem } as const;
    (this.#plan.isLate === true ? this.#waiting : this.#queue).push(done);
  }

  #carryOut(action: Keyed): string | undefined {
    const { refused } = this.#plan;
    const index = this.#done.push(`${action.type} ${action.key}`) - 1;
    const problem = misplacedIn(action, this.#at, this.#place) ?? strayIn(action, this.#order);
    if (problem !== undefined) this.#misplaced.push(problem);
    if (refused === index || refused === Infinity) return 'the suite refuses it';
    this.#keep(action);
    return undefined;
  }

  #keep(action: Keyed): void {
    const left = this.#left;
    const { type, key } = action;
    const add = (what: string, endMs = Infinity): void => void left.set(what, endMs);
    if (type === 'impair') for (const peer of action.peers) add(`link to ${peer} impaired`);
    if (type === 'restore') for (const peer of action.peers) left.delete(`link to ${peer} impaired`);
    if (type === 'pause') add(`${action.what} stopped`, this.nowMs + action.forMs);
    if (type === 'spawn') add(`processes of ${key}`);
    if (type === 'end') left.delete(`processes of ${key}`);
    if (type !== 'signal') return;
    const whom = action.whom === 'group' ? ['', 'what was started by '] : [''];
    for (const what of action.ranks.flatMap((rank) => whom.map((who) => `${who}rank ${rank} stopped`))) {
      if (STOPPING.includes(action.signal)) add(what);
      if (action.signal === 'SIGCONT' || action.signal === 'SIGKILL') left.delete(what);
    }
  }
}

/** Of a rank, what is done to ranks is done to it; the session agent of a job, without a job, is none. */
function strayIn(action: Keyed, { victim, job }: FaultOrder): string | undefined {
  if (action.type === 'kill' && action.what === 'session' && job === 0) return 'kill: no session agent, of no job';
  if (victim.kind !== 'rank') return undefined;
  const ranks = action.type === 'signal' ? action.ranks : action.type === 'exit' ? [action.rank] : [victim.rank];
  return ranks.includes(victim.rank) ? undefined : `${action.type}: not rank ${victim.rank}, which is the victim`;
}

const DIRECTIONS = ['in', 'out', 'both'];

/** Why the agent cannot carry it out. */
function misplacedIn(action: Keyed, { role, host }: FaultPart['at'], place: FaultPlace): string | undefined {
  const { type } = action;
  const isWrong = type === 'kill' && role === 'controller' && action.what !== 'self';
  if (!CAN[role].includes(type) || isWrong) return `${role} cannot carry out ${type}`;
  const wrong = (what: string): string => `${type}: ${what}, at ${role}:${host}`;
  const own = role === 'controller' ? 0 : host + 1;
  switch (action.type) {
    case 'signal': {
      const absent = action.ranks.find((rank) => place.hostOf(rank) !== host);
      if (absent !== undefined) return wrong(`rank ${absent} is not on this host`);
      return /^SIG[A-Z0-9]+$/.test(action.signal) ? undefined : wrong(`there is no signal ${action.signal}`);
    }
    case 'exit':
      if (place.hostOf(action.rank) !== host) return wrong(`rank ${action.rank} is not on this host`);
      return isWhole(action.status, 255) ? undefined : wrong(`no status: ${action.status}`);
    case 'pause':
      return action.forMs > 0 && Number.isFinite(action.forMs) ? undefined : wrong(`no time: ${action.forMs} ms`);
    case 'run':
      return action.program === '' ? wrong('no program') : undefined;
    case 'spawn':
      if (action.program === '') return wrong('no program');
      return isWhole(action.count - 1, Infinity) ? undefined : wrong(`${action.count} of them`);
    case 'impair':
    case 'restore':
    case 'close': {
      const other = action.peers.find((peer) => !isWhole(peer, place.hosts) || peer === own);
      if (other !== undefined || action.peers.length === 0) return wrong(`no link to ${other ?? 'anybody'}`);
      if (action.type !== 'impair') return undefined;
      const { direction, delayMs = 0, jitterMs = 0, bytesPerSecond = 1 } = Object(action.how) as Partial<Impairment>;
      const isTold = DIRECTIONS.includes(String(direction)) && delayMs >= 0 && jitterMs >= 0 && bytesPerSecond > 0;
      return isTold ? undefined : wrong(`no impairment: ${JSON.stringify(action.how)}`);
    }
    default:
      return undefined;
  }
}

function isWhole(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
