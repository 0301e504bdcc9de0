/**
 * The heartbeat ring (IJHPCA, algorithm 1; RDaemon#, 4.5). Each agent sends heartbeats, unasked, to its observer, the
 * next one on the ring, and watches its emitter, the one before. When the emitter is silent for the timeout, it is
 * reported, the next living one before it becomes the emitter and is told so (NEW_OBSERVER), and has twice the timeout
 * for its first heartbeat (by parameter). One timer and one message a period and agent, however many there are.
 *
 * Beyond the paper, since messages may be lost here and agents join:
 * - NEW_OBSERVER is repeated each period until the emitter is heard;
 * - an observer that was replaced and is not known to be dead gets heartbeats for two timeouts more, so that it does
 *   not suspect an emitter that another agent took over by mistake;
 * - a heartbeat carries how late its sender ran of late; the observer grants that time, up to a bound, and grants its
 *   own standstills in full;
 * - before the timeout, the emitter is suspected: the controller's question after it is over when it is reported.
 */

import type {
  Detector, DetectorAction, DetectorEvent, DetectorInit, MemberId, Members, Position,
} from '@stci/interface';
import { orderRing, type RingOrder } from './order.js';

export interface RingSettings {
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** For the first heartbeat of an agent that may still be starting, in addition to the timeout. */
  readonly graceMs: number;
  readonly lagMaxMs: number;
  /** For the first heartbeat of an emitter that was asked for it, by timeouts: the paper's 2. */
  readonly reconnectTimeouts: number;
  readonly order: RingOrder;
}

/** `observe`: the sender is the receiver's observer from now on. */
type RingMessage =
  | { readonly type: 'heartbeat'; readonly lagMs: number }
  | { readonly type: 'observe' };

function readMessage(body: unknown): RingMessage | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { type, lagMs } = body as { readonly type?: unknown; readonly lagMs?: unknown };
  if (type === 'observe') return { type };
  const isLag = typeof lagMs === 'number' && Number.isInteger(lagMs) && lagMs >= 0;
  return type === 'heartbeat' && isLag ? { type, lagMs } : undefined;
}

/** Time after a replaced observer's last heartbeat, in timeouts. */
const REPLACED_TIMEOUTS = 2;
const LAG_MS_MAX = 0xffff_ffff;

type Times = Pick<RingSettings, 'periodMs' | 'timeoutMs'>;

/** How long before it is reported an emitter is suspected: not while its next heartbeat may just be late. */
export function leadMs({ periodMs, timeoutMs }: Times, answerMs: number): number {
  return Math.min(answerMs, (timeoutMs - periodMs) / 3);
}

export class Ring implements Detector {
  readonly #self: MemberId;
  readonly #settings: RingSettings;
  readonly #members: Members;
  readonly #leadMs: number;
  #ring: readonly Position[] = [];
  #emitter: MemberId | undefined;
  /** Of the emitter's silence; Infinity before the start. */
  #deadlineMs = Infinity;
  /** Since when it is suspected; undefined: it is not, or was reported. */
  #suspectedMs: number | undefined;
  /** Last heartbeat of the emitter; undefined: none yet. */
  #heardMs: number | undefined;
  /** Since when it is silent, or was to be heard; its heartbeats that have not come since. */
  #silentMs = Infinity;
  #missed = 0;
  /** When the emitter is asked again to send heartbeats here. */
  #askMs = Infinity;
  /** Who gets heartbeats, and until when. */
  readonly #observers = new Map<Position, number>();
  #heartbeatMs = Infinity;
  #lagMs = 0;

  constructor({ self, members, answerMs }: DetectorInit, settings: RingSettings) {
    this.#self = self;
    this.#leadMs = leadMs(settings, answerMs);
    this.#settings = settings;
    this.#members = members;
    this.#order();
    this.#emitter = this.#neighbour(-1);
    const observer = this.#neighbour(1);
    if (observer !== undefined) this.#observers.set(observer.position, Infinity);
  }

  get dueMs(): number | undefined {
    const due = Math.min(this.#heartbeatMs, this.#silenceMs, this.#askMs);
    return due === Infinity ? undefined : due;
  }

  /** When the emitter is suspected, then reported. */
  get #silenceMs(): number {
    return this.#deadlineMs - (this.#suspectedMs === undefined ? this.#leadMs : 0);
  }

  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[] {
    switch (event.type) {
      case 'start':
        return this.#start(nowMs);
      case 'due':
        return this.#onDue(nowMs);
      case 'message':
        return this.#onMessage(event.from, event.body, nowMs);
      case 'joined':
      case 'gone':
      case 'refuted':
        // Also where it was not known to be reported: its reporter has asked this agent for heartbeats meanwhile.
        return this.#onChange(event, nowMs);
      case 'lag':
        this.#deadlineMs += event.lagMs;
        this.#silentMs += event.lagMs;
        this.#noteLag(event.lagMs);
        return [];
      default:
        return [];
    }
  }

  #start(nowMs: number): DetectorAction[] {
    const { timeoutMs, graceMs, periodMs } = this.#settings;
    this.#heartbeatMs = nowMs;
    if (this.#emitter === undefined) return [];
    const startMs = nowMs + (this.#heardMs === undefined ? graceMs : 0);
    this.#expect(startMs, startMs + timeoutMs);
    if (this.#heardMs === undefined) this.#askMs = nowMs + periodMs;
    return [];
  }

  #onDue(nowMs: number): DetectorAction[] {
    const actions: DetectorAction[] = [];
    if (nowMs >= this.#heartbeatMs) this.#sendHeartbeats(nowMs, actions);
    if (nowMs >= this.#silenceMs) this.#onSilence(nowMs, actions);
    if (nowMs >= this.#askMs) this.#ask(nowMs, actions);
    return actions;
  }

  #onMessage(from: MemberId, body: unknown, nowMs: number): DetectorAction[] {
    const message = readMessage(body);
    // A member that is not known yet may have joined.
    if (message === undefined || this.#members.isGone(from)) return [];
    if (message.type === 'observe') return this.#onObserver(from.position, nowMs);
    if (from.position !== this.#emitter?.position || from.incarnation !== this.#emitter.incarnation) return [];
    const { timeoutMs, lagMaxMs } = this.#settings;
    const actions: DetectorAction[] = [{ type: 'count', metric: 'lag_ms', value: message.lagMs }];
    this.#countMisses(nowMs, actions);
    this.#trust(actions);
    const isStarted = this.#heartbeatMs !== Infinity;
    if (isStarted) this.#expect(nowMs, nowMs + timeoutMs + Math.min(message.lagMs, lagMaxMs));
    this.#heardMs = nowMs;
    this.#askMs = Infinity;
    return actions;
  }

  /** NEW_OBSERVER: a heartbeat goes out at once. */
  #onObserver(position: Position, nowMs: number): DetectorAction[] {
    this.#replaceObserver(position, nowMs);
    // A member that has not started sends no other heartbeat after it.
    if (this.#heartbeatMs === Infinity) return [];
    return [this.#heartbeatTo(position), { type: 'count', metric: 'heartbeats', value: 1 }];
  }

  #replaceObserver(position: Position, nowMs: number): void {
    const untilMs = nowMs + REPLACED_TIMEOUTS * this.#settings.timeoutMs;
    for (const [before, endMs] of this.#observers) this.#observers.set(before, Math.min(endMs, untilMs));
    this.#observers.set(position, Infinity);
  }

  #onChange({ type, member }: Extract<DetectorEvent, { member: MemberId }>, nowMs: number): DetectorAction[] {
    const { position } = member;
    if (this.#ring.length < this.#members.size) this.#order();
    if (type === 'gone') this.#observers.delete(position);
    const next = this.#neighbour(1);
    // Whoever observes from now on will ask for it; heartbeats go there even if that message is lost.
    if (next !== undefined && (this.#observers.size === 0 || (type !== 'gone' && next.position === position))) {
      this.#replaceObserver(next.position, nowMs);
    }
    const { timeoutMs, graceMs } = this.#settings;
    const waitMs = type === 'joined' ? graceMs + timeoutMs : this.#reconnectMs;
    const actions: DetectorAction[] = [];
    // The observer may have missed the last one, while it was held for dead, and need not have asked for any.
    if (type === 'refuted' && next?.position === position && this.#heartbeatMs !== Infinity) {
      actions.push(this.#heartbeatTo(position), { type: 'count', metric: 'heartbeats', value: 1 });
    }
    this.#attach(waitMs, nowMs, actions);
    return actions;
  }

  get #reconnectMs(): number {
    return this.#settings.reconnectTimeouts * this.#settings.timeoutMs;
  }

  /** Watches the nearest living agent before this one, if that is another now. */
  #attach(waitMs: number, nowMs: number, actions: DetectorAction[]): void {
    const emitter = this.#neighbour(-1);
    if (emitter?.position === this.#emitter?.position && emitter?.incarnation === this.#emitter?.incarnation) return;
    this.#trust(actions);
    this.#emitter = emitter;
    this.#heardMs = undefined;
    this.#expect(Infinity, Infinity);
    this.#askMs = Infinity;
    if (emitter === undefined || this.#heartbeatMs === Infinity) return;
    this.#expect(nowMs + Math.max(0, waitMs - this.#reconnectMs), nowMs + waitMs);
    this.#ask(nowMs, actions);
  }

  /** The emitter is to be heard from now on, and is reported at the deadline. */
  #expect(sinceMs: number, deadlineMs: number): void {
    this.#silentMs = sinceMs;
    this.#missed = 0;
    this.#deadlineMs = deadlineMs;
  }

  /** A heartbeat is missed when half a period more has passed: messages take different times. */
  #countMisses(nowMs: number, actions: DetectorAction[]): void {
    const missed = Math.floor((nowMs - this.#silentMs) / this.#settings.periodMs - 0.5);
    if (missed <= this.#missed) return;
    actions.push({ type: 'count', metric: 'misses', value: missed - this.#missed });
    this.#missed = missed;
  }

  #ask(nowMs: number, actions: DetectorAction[]): void {
    if (this.#emitter === undefined) return;
    this.#askMs = nowMs + this.#settings.periodMs;
    actions.push({ type: 'send', to: this.#emitter.position, body: { type: 'observe' } });
  }

  #onSilence(nowMs: number, actions: DetectorAction[]): void {
    const failed = this.#emitter;
    if (failed === undefined) return;
    this.#countMisses(nowMs, actions);
    const heard = this.#heardMs;
    const evidence = heard === undefined
      ? 'no heartbeat since it was asked for one' : `no heartbeat for ${Math.round(nowMs - heard)} ms`;
    if (this.#suspectedMs === undefined) actions.push({ type: 'suspect', member: failed, evidence });
    const suspectedMs = this.#suspectedMs ??= nowMs;
    if (nowMs < this.#deadlineMs) return;
    this.#suspectedMs = undefined;
    // Until it is gone, or heard: of the controller others do not tell.
    this.#expect(Infinity, Infinity);
    this.#askMs = nowMs + this.#settings.periodMs;
    actions.push({ type: 'report', failed, cause: 'silent', evidence, suspectedMs, heardMs: heard });
  }

  /** The emitter is heard, or another one is watched. */
  #trust(actions: DetectorAction[]): void {
    const member = this.#emitter;
    const isSuspected = member !== undefined && this.#suspectedMs !== undefined;
    if (isSuspected && this.#members.has(member)) actions.push({ type: 'trust', member });
    this.#suspectedMs = undefined;
  }

  /** All positions have a place, also where nobody is. */
  #order(): void {
    this.#ring = orderRing(this.#settings.order, Array.from({ length: this.#members.size }, (_, position) => position));
  }

  #sendHeartbeats(nowMs: number, actions: DetectorAction[]): void {
    const { periodMs } = this.#settings;
    if (nowMs - this.#heartbeatMs >= periodMs) this.#noteLag(nowMs - this.#heartbeatMs);
    // From the time when it was due, not from now: else each late turn would make the period longer.
    const nextMs = this.#heartbeatMs + periodMs;
    this.#heartbeatMs = nextMs > nowMs ? nextMs : nowMs + periodMs;
    for (const [position, untilMs] of this.#observers) {
      if (nowMs > untilMs) this.#observers.delete(position);
      else actions.push(this.#heartbeatTo(position));
    }
    if (actions.length > 0) actions.push({ type: 'count', metric: 'heartbeats', value: actions.length });
    this.#countMisses(nowMs, actions);
    // An agent that ran late once is less likely to do so again the longer that is ago.
    this.#lagMs = Math.floor(this.#lagMs / 2);
  }

  #heartbeatTo(to: Position): DetectorAction {
    return { type: 'send', to, body: { type: 'heartbeat', lagMs: this.#lagMs } };
  }

  #noteLag(lagMs: number): void {
    this.#lagMs = Math.min(LAG_MS_MAX, Math.max(this.#lagMs, Math.round(lagMs)));
  }

  /** The nearest living agent before (-1) or after (1) this one; undefined if it is alone. */
  #neighbour(step: 1 | -1): MemberId | undefined {
    const size = this.#ring.length;
    const own = this.#ring.indexOf(this.#self.position);
    for (let i = 1; i < size; i++) {
      const member = this.#members.at(this.#ring[(own + step * i + size * i) % size]!);
      if (member !== undefined) return member;
    }
    return undefined;
  }
}
