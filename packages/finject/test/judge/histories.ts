/** Histories made by hand: what happened is said, and the records that a runner would write come out. */

import {
  failureId, type ClockOffset, type FailedSubject, type FailureCause, type FaultImpact, type FaultVictim,
  type JobEvent, type JobReport,
} from '@stci/interface';
import type {
  Check, Experiment, History, HistoryEntry, HistoryRecord, LeftProcess, PlannedInjection, StopReason, TargetShape,
  UnknownHost,
} from '@stci/finject/experiment';

/** Wall time of all starts, ms. */
export const EPOCH = 1_800_000_000_000;

export interface MakerInit {
  readonly hosts?: number;
  readonly arity?: number;
  readonly checks?: readonly Check[];
  readonly isSimulated?: boolean;
  readonly isGolden?: boolean;
  readonly name?: string;
  readonly description?: string;
}

export type CheckSpec = Check extends infer One ? (One extends Check ? Omit<One, 'name' | 'place'> : never) : never;

/** A check with a name, of nowhere. */
export function check(spec: CheckSpec, name: string = spec.type): Check {
  return { ...spec, name, place: { file: 'test.yaml', line: 1, column: 1 } };
}

/** As the kinds say it of their defaults. */
const IMPACTS: Readonly<Record<string, FaultImpact>> =
  { pkill: 'ends', exit: 'ends', agent: 'ends', host: 'ends', noop: 'none' };

export function injection(
  id: string, kind: string, victims: readonly FaultVictim[], more: Partial<PlannedInjection> = {},
): PlannedInjection {
  return {
    id, fault: id.split('.')[1] ?? id, kind, args: {}, victims, follows: undefined,
    trigger: { on: 'event', event: 'start', nth: 1, fault: undefined }, delayMs: 100, atMs: 100, durationMs: undefined,
    coolDownMs: 0, timeoutMs: 1000, impact: IMPACTS[kind] ?? 'disturbs', ...more,
  };
}

export const rankVictim = (rank: number): FaultVictim => ({ kind: 'rank', rank });
export const hostVictim = (host: number): FaultVictim => ({ kind: 'host', host });

/** One rank on each host. */
export class HistoryMaker {
  readonly #numbers = new Map<string, number>();
  readonly records: HistoryRecord[] = [];
  readonly shape: TargetShape;
  readonly experiment: Experiment;

  constructor({ hosts = 8, arity = 2, checks = [], ...init }: MakerInit = {}) {
    const names = Array.from({ length: hosts }, (_, host) => `n${host}`);
    this.shape = { hosts: names, hostOfRank: names.map((_, host) => host), arity };
    this.experiment = {
      name: init.name ?? 'test', description: init.description ?? '',
      target: { options: ['-n', String(hosts)], program: ['./target'], session: undefined, simulated: undefined },
      hosts: names, repeats: 1, seed: 7, warmUpMs: 0, timeLimitMs: 60_000, faults: [], checks,
      stop: { failuresMax: 0, timeMs: undefined }, outputs: { directory: undefined, outputBytesMax: 1e6 },
      keepAlive: { ranks: [], hosts: [] }, allow: [], victimsMax: 100, configurations: [],
    };
    this.add(0, {
      type: 'run', format: 2, experiment: this.experiment, file: 'test.yaml', text: 'name: test\n', shape: this.shape,
      isSimulated: init.isSimulated ?? false, isGolden: init.isGolden ?? false,
      versions: { stci: '0.1.0', node: 'v20.20.2', os: 'Linux 6.1' },
      parameters: [
        { name: 'bootcom.lease', value: 1000, source: 'flag' },
        { name: 'detector.ring.period', value: 100, source: 'default' },
      ],
    });
  }

  /** `atMs` after EPOCH. */
  add(atMs: number, entry: HistoryEntry): void {
    this.records.push({ wallMs: EPOCH + atMs, monotonicMs: atMs, ...entry });
  }

  repeat(
    repeat: number, injections: readonly PlannedInjection[], configuration = '', fromMs = repeat * 100_000,
  ): RepeatMaker {
    const number = (this.#numbers.get(configuration) ?? 0) + 1;
    this.#numbers.set(configuration, number);
    const keep = { ranks: [], hosts: [] };
    this.add(fromMs, { type: 'repeat', plan: { repeat, number, configuration, keep, injections } });
    this.add(fromMs, { type: 'target', repeat, session: 's', job: 1, hosts: this.shape.hosts });
    this.add(fromMs, { type: 'start', repeat });
    return new RepeatMaker(this, repeat, fromMs);
  }

  history(isCutOff = false): History {
    if (!isCutOff) {
      const lastMs = (this.records.at(-1)?.wallMs ?? EPOCH) - EPOCH;
      this.add(lastMs, { type: 'run-end', stopped: undefined, text: 'done' });
    }
    return { directory: '/runs/test', records: this.records, isCutOff };
  }
}

export interface FailureTimes {
  readonly cause?: FailureCause;
  readonly detector?: string;
  readonly reporter?: string;
  readonly failedMs?: number;
  readonly heardMs?: number;
  readonly suspectedMs?: number;
  readonly detectedMs: number;
  readonly notifiedMs?: number;
}

/** Times in ms from the repeat's start, at their source's clock. */
export class RepeatMaker {
  readonly #maker: HistoryMaker;
  readonly #repeat: number;
  readonly #fromMs: number;

  constructor(maker: HistoryMaker, repeat: number, fromMs: number) {
    this.#maker = maker;
    this.#repeat = repeat;
    this.#fromMs = fromMs;
  }

  wall(ms: number): number {
    return EPOCH + this.#fromMs + ms;
  }

  clocks(offsets: readonly Pick<ClockOffset, 'host' | 'offsetMs' | 'errorMs'>[]): this {
    const clocks = offsets.map((offset) => ({ ...offset, name: `n${offset.host}`, samples: 5 }));
    return this.#add(0, { type: 'clock', repeat: this.#repeat, clocks });
  }

  event(ms: number, event: JobEvent): this {
    return this.#add(ms, { type: 'event', repeat: this.#repeat, event });
  }

  injected(id: string, ms: number, host = 0, victim = 0): this {
    return this.state(id, 'injected', ms, host, victim);
  }

  state(
    id: string, state: Extract<HistoryEntry, { type: 'injection' }>['state'], ms: number, host = 0, victim = 0,
  ): this {
    return this.#add(ms, {
      type: 'injection', repeat: this.#repeat, id, state, victim, host, agent: `root:${host}`, text: state,
      sourceWallMs: this.wall(ms), sourceMonotonicMs: ms,
    });
  }

  fails(subject: FailedSubject, times: FailureTimes): this {
    const at = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : this.wall(ms));
    const [failedWallMs, heardWallMs, notifiedWallMs] = [times.failedMs, times.heardMs, times.notifiedMs].map(at);
    return this.event(times.detectedMs + 500, {
      type: 'failure-record',
      record: {
        failure: failureId(subject), subject,
        cause: times.cause ?? 'silent', evidence: `${failureId(subject)} has failed`,
        detector: times.detector ?? 'ring', hostName: `n${subject.host}`, reporter: times.reporter ?? `root:0`,
        confirmers: [], notified: 7, lostRanks: [], newParents: [], policy: ['continue: the job goes on'],
        suspectedWallMs: this.wall(times.suspectedMs ?? times.detectedMs), confirmedWallMs: this.wall(times.detectedMs),
        ...(failedWallMs !== undefined && { failedWallMs }), ...(heardWallMs !== undefined && { heardWallMs }),
        ...(notifiedWallMs !== undefined && { notifiedWallMs }),
      },
    });
  }

  rankFails(rank: number, times: FailureTimes, attempt = 1): this {
    return this.fails({ kind: 'tool', host: rank, job: 1, rank, attempt }, { cause: 'signalled', ...times });
  }

  hostFails(host: number, times: FailureTimes, incarnation = 1): this {
    return this.fails({ kind: 'host', host, incarnation }, times);
  }

  suspects(host: number, ms: number, incarnation = 1): this {
    return this.event(ms, {
      type: 'member', change: 'suspected', host, name: `n${host}`, incarnation, wallMs: this.wall(ms),
      detector: 'swim', reporter: 'root:1', evidence: 'no answer',
    });
  }

  output(ms: number, rank: number, text: string): this {
    return this.#add(ms, {
      type: 'output', repeat: this.#repeat, rank, stream: 'stdout', text, sourceWallMs: this.wall(ms),
    });
  }

  add(ms: number, entry: HistoryEntry): this {
    return this.#add(ms, entry);
  }

  /** `failed`: ranks that a signal ended. */
  end(ms: number, more: { readonly exitCode?: number; readonly failed?: readonly number[];
    readonly isTimeOut?: boolean; readonly orphans?: number; readonly left?: readonly LeftProcess[];
    readonly unknown?: readonly UnknownHost[] | undefined; readonly stopped?: StopReason;
    readonly survived?: boolean } = {}): this {
    const report: JobReport = {
      job: 1, exitCode: more.exitCode ?? 0,
      failures: more.survived === true ? [{ code: 'STCI_TOOL_SURVIVED', message: 'rank 1 lives on n1' }] : [],
      daemons: [],
      submitWallMs: this.wall(0), endWallMs: this.wall(ms),
      ranks: this.#maker.shape.hosts.map((host, rank) => ({
        rank, host, app: 0, pid: 100 + rank, leftovers: 0,
        ...(more.failed?.includes(rank) === true
          ? { outcome: 'signalled', end: { signal: 'SIGKILL' } } as const
          : { outcome: 'exited', end: { status: 0 } } as const),
      })),
    };
    return this.#add(ms, {
      type: 'repeat-end', repeat: this.#repeat, report, isTimeOut: more.isTimeOut ?? false, orphans: more.orphans ?? 0,
      left: more.left, unknown: 'unknown' in more ? more.unknown : [], stopped: more.stopped,
    });
  }

  #add(ms: number, entry: HistoryEntry): this {
    this.#maker.add(this.#fromMs + ms, entry);
    return this;
  }
}
