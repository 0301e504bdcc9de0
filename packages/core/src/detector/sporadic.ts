/**
 * Detector `sporadic` (Kharbas, 2.1.2): probes only while somebody waits. Who waits for one agent longer than the
 * timeout has that agent probed. Who waits for all has the ring probed: each agent asks the next one, and passes the
 * request around. Nobody waits: no message.
 *
 * A round is passed on once in half a period, so that many who wait at the same time cost no more than one of them.
 */

import { builtinComponent } from '@stci/interface';
import type {
  Detector, DetectorAction, DetectorEvent, DetectorInit, DetectorModule, MemberId, Members, ParamValue, Position,
} from '@stci/interface';
import { acceptNamed, durationParam, notifierParam, timeoutProblem } from './component.js';
import { detectorFramework } from './framework.js';
import { PROBE_METRICS, Prober, readProbe } from './prober.js';

interface SporadicTimes {
  readonly periodMs: number;
  readonly timeoutMs: number;
}

interface Wait {
  readonly on: Position | 'all';
  /** When it is probed, or the next round is due. */
  dueMs: number;
  isProbed: boolean;
}

/** Asks to probe the next agent of the ring, and to pass this on to so many more. */
interface Round {
  readonly type: 'round';
  readonly hops: number;
}

function readRound(body: unknown): Round | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { type, hops } = body as Partial<Round>;
  const isRound = type === 'round' && Number.isInteger(hops) && (hops as number) >= 1;
  return isRound ? { type, hops: hops as number } : undefined;
}

class Sporadic implements Detector {
  readonly #self: MemberId;
  readonly #times: SporadicTimes;
  readonly #members: Members;
  readonly #prober: Prober;
  readonly #waits = new Map<number, Wait>();
  /** Until when another agent's wait has the next one probed. */
  #askedUntilMs = -Infinity;
  /** Of the last round that went from here. */
  #round = { sentMs: -Infinity, hops: 0 };

  constructor({ self, members }: DetectorInit, times: SporadicTimes) {
    this.#self = self;
    this.#times = times;
    this.#members = members;
    this.#prober = new Prober({ ...times, confirmMs: times.periodMs });
  }

  get dueMs(): number | undefined {
    const due = [...this.#waits.values()].map(({ dueMs }) => dueMs);
    const probeMs = this.#prober.dueMs;
    if (probeMs !== undefined) due.push(probeMs);
    if (this.#askedUntilMs !== -Infinity) due.push(this.#askedUntilMs);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[] {
    switch (event.type) {
      case 'waiting':
        this.#waits.set(event.id, { on: event.on, dueMs: nowMs + this.#times.timeoutMs, isProbed: false });
        return [];
      case 'over':
        this.#waits.delete(event.id);
        return this.#settle(nowMs, []);
      case 'message':
        return this.#onMessage(event.from, event.body, nowMs);
      case 'joined':
      case 'gone':
      case 'refuted':
        return this.#settle(nowMs, []);
      case 'lag':
        this.#prober.onLag(event.lagMs);
        return [];
      case 'due':
        return this.#onDue(nowMs);
      default:
        return [];
    }
  }

  #onMessage(from: MemberId, body: unknown, nowMs: number): DetectorAction[] {
    const actions = this.#prober.on(from, readProbe(body), nowMs);
    const round = readRound(body);
    if (round === undefined || !this.#members.has(from)) return actions;
    const { periodMs } = this.#times;
    this.#askedUntilMs = nowMs + 3 * periodMs;
    const hops = Math.min(round.hops - 1, this.#members.alive - 2);
    const isNew = nowMs - this.#round.sentMs >= periodMs / 2 || hops > this.#round.hops;
    if (hops > 0 && isNew) this.#sendRound(hops, nowMs, actions);
    return this.#settle(nowMs, actions);
  }

  #onDue(nowMs: number): DetectorAction[] {
    if (nowMs >= this.#askedUntilMs) this.#askedUntilMs = -Infinity;
    const { periodMs } = this.#times;
    const actions: DetectorAction[] = [];
    let isRoundDue = false;
    for (const wait of this.#waits.values()) {
      if (nowMs < wait.dueMs) continue;
      wait.dueMs = nowMs + periodMs;
      wait.isProbed = true;
      isRoundDue ||= wait.on === 'all';
    }
    this.#settle(nowMs, actions);
    if (isRoundDue) this.#sendRound(this.#members.alive - 1, nowMs, actions);
    return [...actions, ...this.#prober.onDue(nowMs)];
  }

  #sendRound(hops: number, nowMs: number, actions: DetectorAction[]): void {
    const next = this.#next();
    if (next === undefined || hops < 1) return;
    this.#round = { sentMs: nowMs, hops };
    actions.push({ type: 'send', to: next.position, body: { type: 'round', hops } });
  }

  /** Watches those whom somebody has waited for long enough, and nobody else. */
  #settle(nowMs: number, actions: DetectorAction[]): DetectorAction[] {
    const wanted = new Map<Position, MemberId>();
    const want = (member: MemberId | undefined): void => {
      if (member !== undefined && member.position !== this.#self.position) wanted.set(member.position, member);
    };
    if (this.#askedUntilMs > nowMs) want(this.#next());
    for (const { on, isProbed } of this.#waits.values()) {
      if (isProbed) want(on === 'all' ? this.#next() : this.#members.at(on));
    }
    for (const position of this.#prober.watched) if (!wanted.has(position)) this.#prober.unwatch(position);
    for (const member of wanted.values()) this.#prober.watch(member, nowMs, { cause: 'silent' });
    return actions;
  }

  /** The living agent at the next higher position, around. */
  #next(): MemberId | undefined {
    const others = this.#members.living().filter(({ position }) => position !== this.#self.position);
    return others.find(({ position }) => position > this.#self.position) ?? others[0];
  }
}

function timesOf(params: Readonly<Record<string, ParamValue>>): SporadicTimes {
  return { periodMs: params['period'] as number, timeoutMs: params['timeout'] as number };
}

function createSporadic(params: Readonly<Record<string, ParamValue>>): DetectorModule {
  const times = timesOf(params);
  const { periodMs, timeoutMs } = times;
  return {
    watches: 'agents',
    hearsWaits: true,
    topology: '',
    metrics: PROBE_METRICS,
    promise: ({ latencyBoundMs }) => ({
      messagesPerSecond: 0,
      bytesPerSecond: 0,
      text: `A dead agent is reported only if somebody waits for it: ${2 * timeoutMs + periodMs} to `
        + `${2 * timeoutMs + periodMs + latencyBoundMs} ms after the wait began. Who waits for all finds the dead `
        + 'one after another. No message while nobody waits.',
    }),
    open: (init) => new Sporadic(init, times),
  };
}

export const detectorSporadic = builtinComponent({
  framework: detectorFramework,
  name: 'sporadic',
  help: 'Agents that somebody waits for in vain: a request, a barrier, a receive. No message while nobody waits.',
  params: {
    notifier: notifierParam,
    period: durationParam(1000, 'Time between two pings of an agent that somebody waits for.'),
    timeout: durationParam(5000, 'How long somebody waits before the agent is probed, and how long that one may be '
      + 'silent then. Longer probes fewer waits that end well, shorter finds dead agents sooner.'),
  },
  query: (context) => {
    const { periodMs, timeoutMs } = timesOf(context.params);
    return acceptNamed(context, timeoutProblem('sporadic', periodMs, timeoutMs));
  },
  create: (_deps, params) => createSporadic(params),
});
