/** What detectors tell on the model of a network: suspicions, which end, and reports, whose times are of this run. */

import type { DetectorAction, FailureCause, Position } from '@stci/interface';

type Report = Extract<DetectorAction, { readonly type: 'report' }>;

const CAUSES: readonly FailureCause[] = [
  'exited', 'signalled', 'closed', 'silent', 'watchdog', 'unreachable', 'malformed', 'not-started',
];
/** Floating-point times. */
const ROUNDING_MS = 1e-4;

export interface Suspicion {
  readonly by: Position;
  readonly position: Position;
  readonly sinceMs: number;
}

export class Suspicions {
  /** So far. */
  count = 0;
  /** By who suspects whom. */
  readonly #all = new Map<string, Suspicion>();

  begin(by: Position, { member, evidence }: Extract<DetectorAction, { type: 'suspect' }>, sinceMs: number): void {
    if (evidence === '') throw new Error('a suspicion without evidence');
    this.count++;
    this.#all.set(`${by} ${member.position}`, { by, position: member.position, sinceMs });
  }

  sinceMs(by: Position, position: Position): number | undefined {
    return this.#all.get(`${by} ${position}`)?.sinceMs;
  }

  end(by: Position, position: Position): void {
    this.#all.delete(`${by} ${position}`);
  }

  /** Another incarnation is there. */
  forget(position: Position): void {
    for (const [key, one] of this.#all) {
      if (one.by === position || one.position === position) this.#all.delete(key);
    }
  }

  /** Suspicions that began before. */
  before(atMs: number): Suspicion[] {
    return [...this.#all.values()].filter(({ sinceMs }) => sinceMs < atMs);
  }
}

/** The report's cause is one that there is; its times lie between the start and now. */
export function checkReport({ cause, evidence, suspectedMs, heardMs }: Report, startMs: number, nowMs: number): void {
  if (!CAUSES.includes(cause)) throw new Error(`there is no cause ${JSON.stringify(cause)}`);
  if (evidence === '') throw new Error('a report without evidence');
  for (const [name, atMs] of [['suspectedMs', suspectedMs], ['heardMs', heardMs ?? startMs]] as const) {
    const isTime = atMs >= startMs && atMs <= nowMs + ROUNDING_MS;
    if (!isTime) throw new Error(`${name} of a report is ${atMs}, not from ${startMs} to ${nowMs} ms`);
  }
}

/** Where it was suspected before, that is when; a standstill of the reporter, `lagMs`, may move it. */
export function checkSuspected({ suspectedMs }: Report, sinceMs: number, lagMs: number): void {
  if (suspectedMs >= sinceMs - ROUNDING_MS && suspectedMs <= sinceMs + lagMs + ROUNDING_MS) return;
  throw new Error(`suspectedMs of a report is ${suspectedMs} ms, and it was suspected at ${sinceMs} ms`);
}

/** Nothing is heard from the dead. `lastMs`: when its last message may have come. */
export function checkHeard({ heardMs }: Report, lastMs: number): void {
  if (heardMs === undefined || heardMs <= lastMs + ROUNDING_MS) return;
  throw new Error(`heardMs of a report is ${heardMs} ms, and the last message of the dead came by ${lastMs} ms`);
}
