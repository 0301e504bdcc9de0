/** What the kinds of faults at links share: where agents are, and the machine at the agent of a part. */

import type {
  FaultAction, FaultEvent, FaultMachine, FaultPart, FaultPlace, Impairment, Position,
} from '@stci/interface';

/** What is done to the links to these agents, inclusive ranges of positions; for the machine. */
export interface LinkBody {
  readonly peers: readonly (readonly [Position, Position])[];
  readonly how: Impairment | 'close';
  /** What to report. */
  readonly text: string;
  /** Waits so long, so that agents farther away are told before; ms. */
  readonly afterMs: number;
}

const KEY = 'links';

export function siteAt(position: Position): FaultPart['at'] {
  return position === 0 ? { role: 'controller', host: 0 } : { role: 'root', host: position - 1 };
}

export function isThere(position: Position, place: FaultPlace): boolean {
  return position === 0 || place.isUp(position - 1);
}

/** Ascending positions as ranges. */
export function rangesOf(positions: readonly Position[]): [Position, Position][] {
  const ranges: [Position, Position][] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === position - 1) last[1] = position;
    else ranges.push([position, position]);
  }
  return ranges;
}

export function agentName(position: Position): string {
  return position === 0 ? 'the controller' : `root:${position - 1}`;
}

export class LinkMachine implements FaultMachine {
  readonly #body: LinkBody;
  dueMs: number | undefined;
  #isInForce = false;

  constructor(body: LinkBody) {
    this.#body = body;
  }

  on(event: FaultEvent, nowMs: number): readonly FaultAction[] {
    switch (event.type) {
      case 'inject':
        if (this.#body.afterMs === 0) return this.#inject();
        this.dueMs = nowMs + this.#body.afterMs;
        return [];
      case 'due':
        return this.#inject();
      case 'undo':
        return [...this.#restore(), { type: 'undone' }];
      case 'tear-down':
        return this.#restore();
      case 'done':
        return event.problem === undefined ? [] : [{ type: 'failed', reason: event.problem }];
      default:
        return [];
    }
  }

  /** The fault is reported before it is injected: the way to the controller may be the one that is cut. */
  #inject(): FaultAction[] {
    const { how, text } = this.#body;
    this.dueMs = undefined;
    const reported: FaultAction = { type: 'injected', text };
    if (how === 'close') return [reported, { type: 'close', key: KEY, peers: this.#peers }];
    this.#isInForce = true;
    return [reported, { type: 'impair', key: KEY, peers: this.#peers, how }];
  }

  #restore(): FaultAction[] {
    this.dueMs = undefined;
    if (!this.#isInForce) return [];
    this.#isInForce = false;
    return [{ type: 'restore', key: KEY, peers: this.#peers }];
  }

  get #peers(): Position[] {
    return this.#body.peers.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index));
  }
}
