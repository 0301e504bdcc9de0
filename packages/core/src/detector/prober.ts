/**
 * Ping and answer (Kharbas, 2.1): each watched agent is asked every period. One that was silent for the timeout is
 * suspected and asked once more; silence for a further while, and it is reported, once, and asked on, unless it is no
 * longer watched. Shared by the detectors that probe: they differ in whom they watch, and when.
 *
 * Any message of a watched agent is a sign of life, its own pings too. What this process could not hear while it stood
 * still does not count: deadlines move by that time.
 */

import type { DetectorAction, FailureCause, MemberId, MetricSpec, Position } from '@stci/interface';

export interface ProbeTimes {
  readonly periodMs: number;
  /** Silence until suspicion; longer than the period and a round trip. */
  readonly timeoutMs: number;
  /** Silence from suspicion to report; longer than a round trip. */
  readonly confirmMs: number;
}

/** Of every detector that probes. */
export const PROBE_METRICS: Readonly<Record<string, MetricSpec>> = {
  pings: { type: 'counter', help: 'Pings sent.' },
  misses: { type: 'counter', help: 'Answers that did not come in their period.' },
  round_trip_ms: { type: 'histogram', help: 'From a ping to its answer.' },
};

/** Of a ping or an answer, CBOR: `{type: 'answer', n: 4294967295}`. */
export const PROBE_BYTES = 21;

export interface WatchOptions {
  readonly cause: FailureCause;
  /** It may be silent for so much longer at first. */
  readonly graceMs?: number;
  /** It is suspected already, for this reason. */
  readonly evidence?: string;
}

interface Target {
  readonly member: MemberId;
  readonly options: WatchOptions;
  pingDueMs: number;
  /** The ping whose answer is awaited, and when it went. */
  n: number | undefined;
  pingedMs: number;
  /** Last sign of life, or when watching began. */
  heardMs: number;
  suspectedMs: number | undefined;
  /** Since it was heard last. */
  isReported: boolean;
  /** Last sign of life, if there was any. */
  lastMs: number | undefined;
}

/** Body of a prober's message; `n` ties an answer to its ping. */
export interface Probe {
  readonly type: 'ping' | 'answer';
  readonly n: number;
}

/** Undefined if the body is none of a prober's. */
export function readProbe(body: unknown): Probe | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { type, n } = body as Partial<Probe>;
  const isProbe = (type === 'ping' || type === 'answer') && Number.isInteger(n);
  return isProbe ? { type, n: n as number } : undefined;
}

export class Prober {
  readonly #times: ProbeTimes;
  readonly #targets = new Map<Position, Target>();
  #pings = 0;

  constructor(times: ProbeTimes) {
    this.#times = times;
  }

  get watched(): Position[] {
    return [...this.#targets.keys()];
  }

  get dueMs(): number | undefined {
    let due: number | undefined;
    for (const target of this.#targets.values()) {
      const next = Math.min(target.pingDueMs, this.#deadlineMs(target));
      if (due === undefined || next < due) due = next;
    }
    return due;
  }

  /** Its first ping is due at once. */
  watch(member: MemberId, nowMs: number, options: WatchOptions): void {
    const { graceMs = 0, evidence } = options;
    if (this.#targets.get(member.position)?.member.incarnation === member.incarnation) return;
    this.#targets.set(member.position, {
      member,
      options,
      pingDueMs: nowMs,
      n: undefined,
      pingedMs: nowMs,
      heardMs: nowMs + graceMs,
      suspectedMs: evidence === undefined ? undefined : nowMs,
      isReported: false,
      lastMs: undefined,
    });
  }

  unwatch(position: Position): void {
    this.#targets.delete(position);
  }

  on(from: MemberId, probe: Probe | undefined, nowMs: number): DetectorAction[] {
    const actions: DetectorAction[] = [];
    if (probe?.type === 'ping') {
      actions.push({ type: 'send', to: from.position, body: { type: 'answer', n: probe.n } });
    }
    const target = this.#targets.get(from.position);
    if (target === undefined || target.member.incarnation !== from.incarnation) return actions;
    target.heardMs = Math.max(target.heardMs, nowMs);
    target.lastMs = nowMs;
    if (target.suspectedMs !== undefined) actions.push({ type: 'trust', member: target.member });
    target.suspectedMs = undefined;
    target.isReported = false;
    if (probe?.type === 'answer' && probe.n === target.n) {
      actions.push({ type: 'count', metric: 'round_trip_ms', value: nowMs - target.pingedMs });
      target.n = undefined;
    }
    return actions;
  }

  /** Sends what is due, and reports. */
  onDue(nowMs: number): DetectorAction[] {
    const actions: DetectorAction[] = [];
    for (const target of this.#targets.values()) {
      if (nowMs >= this.#deadlineMs(target)) this.#onSilence(target, nowMs, actions);
      if (nowMs >= target.pingDueMs) this.#ping(target, nowMs, actions);
    }
    return actions;
  }

  onLag(lagMs: number): void {
    for (const target of this.#targets.values()) {
      target.n = undefined; // Its answer may wait unread: it says nothing, nor does its absence.
      target.heardMs += lagMs;
      if (target.suspectedMs !== undefined) target.suspectedMs += lagMs;
    }
  }

  #deadlineMs({ heardMs, suspectedMs, isReported }: Target): number {
    const { timeoutMs, confirmMs } = this.#times;
    if (isReported) return Infinity;
    return suspectedMs === undefined ? heardMs + timeoutMs : suspectedMs + confirmMs;
  }

  #onSilence(target: Target, nowMs: number, actions: DetectorAction[]): void {
    const { member, heardMs, suspectedMs, lastMs, options } = target;
    const silence = `no answer for ${Math.round(nowMs - heardMs)} ms`;
    if (suspectedMs === undefined) {
      target.suspectedMs = nowMs;
      target.pingDueMs = nowMs;
      actions.push({ type: 'suspect', member, evidence: silence });
      return;
    }
    this.#countMiss(target, nowMs, actions);
    target.isReported = true;
    target.pingDueMs = nowMs + this.#times.periodMs;
    const evidence = options.evidence === undefined ? silence : `${options.evidence}; ${silence}`;
    actions.push({ type: 'report', failed: member, cause: options.cause, evidence, suspectedMs, heardMs: lastMs });
  }

  /** Not of an agent that may still be starting. */
  #countMiss({ n, pingedMs, lastMs, heardMs }: Target, nowMs: number, actions: DetectorAction[]): void {
    const isStarting = lastMs === undefined && nowMs <= heardMs;
    if (n === undefined || isStarting || nowMs - pingedMs < this.#times.periodMs) return;
    actions.push({ type: 'count', metric: 'misses', value: 1 });
  }

  #ping(target: Target, nowMs: number, actions: DetectorAction[]): void {
    this.#countMiss(target, nowMs, actions);
    this.#pings = (this.#pings + 1) % 0x1_0000_0000;
    // From the time when it was due, not from now: else each late turn would make the period longer.
    const nextMs = target.pingDueMs + this.#times.periodMs;
    target.pingDueMs = nextMs > nowMs ? nextMs : nowMs + this.#times.periodMs;
    target.pingedMs = nowMs;
    target.n = this.#pings;
    actions.push(
      { type: 'send', to: target.member.position, body: { type: 'ping', n: this.#pings } },
      { type: 'count', metric: 'pings', value: 1 },
    );
  }
}
