/**
 * Witness: a detector that reports nothing. It writes down what each agent is told of the others, and, when it is asked
 * to, has every agent send to every other, so that checkers know from outside who is told what, and who reaches whom.
 */

import { accept, decline, defineComponent } from '@stci/interface';
import type {
  Detector, DetectorAction, DetectorEvent, DetectorInit, DetectorModule, MemberId, Members,
} from '@stci/interface';
import { detectorFramework } from '@stci/core/component';

/** `#`: the incarnation behind the position. */
export type MemberKey = `${number}#${number}`;

export function memberKey({ position, incarnation }: MemberId): MemberKey {
  return `${position}#${incarnation}`;
}

export interface Sighting {
  readonly timeMs: number;
  readonly by: MemberKey;
  readonly type: 'gone' | 'refuted' | 'joined';
  readonly member: MemberKey;
}

const PERIOD_MS = 500;

export class WitnessRecord {
  readonly sightings: Sighting[] = [];
  /** Of each agent: those that take part, as it knows. */
  readonly views = new Map<MemberKey, Set<MemberKey>>();
  /** Those that have begun: an agent's detectors wait for the links of its overlay, or for attempts at them to fail. */
  readonly started = new Set<MemberKey>();
  /** `receiver sender` of messages since `ask`. */
  readonly heard = new Set<string>();
  readonly #nowMs: () => number;
  #isAsked = false;
  #isOver = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** From now on all send to all. */
  ask(): void {
    this.#isAsked = true;
    this.heard.clear();
  }

  /** What agents are told from now on is not written down. */
  end(): void {
    this.#isOver = true;
  }

  opened(self: MemberId, members: readonly MemberId[]): void {
    this.views.set(memberKey(self), new Set(members.map(memberKey)));
  }

  saw(by: MemberId, type: Sighting['type'], member: MemberId): void {
    if (this.#isOver) return;
    const view = this.views.get(memberKey(by)) as Set<MemberKey>;
    const key = memberKey(member);
    if (type === 'gone') view.delete(key);
    else {
      for (const other of view) if (other.startsWith(`${member.position}#`)) view.delete(other);
      view.add(key);
    }
    this.sightings.push({ timeMs: this.#nowMs(), by: memberKey(by), type, member: key });
  }
}

/** Of the run that is going on: a run is synchronous, there is one at a time. */
let current: WitnessRecord | undefined;

/** Has the witnesses of a run write into `record`. */
export function withWitness<T>(record: WitnessRecord, run: () => T): T {
  current = record;
  try {
    return run();
  } finally {
    current = undefined;
  }
}

class Witness implements Detector {
  readonly #self: MemberId;
  readonly #record: WitnessRecord | undefined;
  readonly #members: Members;
  dueMs: number | undefined;

  constructor({ self, members }: DetectorInit) {
    this.#self = self;
    this.#record = current;
    this.#members = members;
    this.#record?.opened(self, members.living());
  }

  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[] {
    if (this.#record === undefined) return [];
    switch (event.type) {
      case 'start':
        this.#record.started.add(memberKey(this.#self));
        this.dueMs = nowMs + PERIOD_MS;
        return [];
      case 'gone':
      case 'refuted':
      case 'joined':
        this.#record.saw(this.#self, event.type, event.member);
        return [];
      case 'message':
        this.#record.heard.add(`${memberKey(this.#self)} ${memberKey(event.from)}`);
        return [];
      case 'due':
        this.dueMs = nowMs + PERIOD_MS;
        return this.#record.isAsked ? this.#toAll() : [];
      default:
        return [];
    }
  }

  #toAll(): DetectorAction[] {
    const others = this.#members.living().filter(({ position }) => position !== this.#self.position);
    return others.map(({ position: to }) => ({ type: 'send', to, body: null }));
  }
}

export const detectorWitness = defineComponent({
  framework: detectorFramework,
  name: 'witness',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'Reports nothing: writes down what agents are told.',
  params: {
    notifier: { type: 'string', default: 'auto', help: 'Not used.' },
  },
  query: ({ named }) => (named === true ? accept(1) : decline('only by name')),
  create: (): DetectorModule => ({
    watches: 'agents',
    topology: '',
    metrics: {},
    promise: () => ({ messagesPerSecond: 0, bytesPerSecond: 0, text: 'It reports nothing.' }),
    open: (init) => new Witness(init),
  }),
});
