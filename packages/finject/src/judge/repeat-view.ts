/** A history by repeats: the records of each in one place, and its clocks. */

import type { JobEvent } from '@stci/interface';
import type { RepeatPlan, TargetShape } from '../experiment/contracts.js';
import type { History, HistoryRecord } from '../history/contracts.js';
import { HostClocks } from './clocks.js';

export type RecordOf<T extends HistoryRecord['type']> = Extract<HistoryRecord, { readonly type: T }>;

/** Events as they came; `wallMs` of finject. */
export interface TimedEvent {
  readonly wallMs: number;
  readonly event: JobEvent;
}

export interface RepeatView {
  readonly plan: RepeatPlan;
  readonly shape: TargetShape;
  readonly isGolden: boolean;
  /** After `undo` a fault's consequences may still come for so long; ms. */
  readonly followMs: number;
  readonly clocks: HostClocks;
  readonly target: RecordOf<'target'> | undefined;
  /** Of the repeat: its `start` record, else its first. */
  readonly startMs: number;
  /** Time of the last record. */
  readonly endMs: number;
  readonly events: readonly TimedEvent[];
  readonly injections: readonly RecordOf<'injection'>[];
  /** The same by the id of the planned injection, in order. */
  readonly injectionsById: ReadonlyMap<string, readonly RecordOf<'injection'>[]>;
  readonly outputs: readonly RecordOf<'output'>[];
  readonly checks: readonly RecordOf<'check'>[];
  readonly problems: readonly string[];
  readonly end: RecordOf<'repeat-end'> | undefined;
}

const NO_SHAPE: TargetShape = { hosts: [], hostOfRank: [], arity: 2 };

/** The lease of links, where the record does not name it. */
const LEASE_MS = 10_000;

export function runOf(history: History): RecordOf<'run'> | undefined {
  return history.records.find((record): record is RecordOf<'run'> => record.type === 'run');
}

/** Repeats in the order in which they began. One whose plan was lost has an empty one. */
export function repeatsOf(history: History): readonly RepeatView[] {
  const run = runOf(history);
  const byRepeat = new Map<number, HistoryRecord[]>();
  for (const record of history.records) {
    const repeat = record.type === 'repeat' ? record.plan.repeat : 'repeat' in record ? record.repeat : undefined;
    if (repeat === undefined) continue;
    const list = byRepeat.get(repeat);
    if (list === undefined) byRepeat.set(repeat, [record]);
    else list.push(record);
  }
  return [...byRepeat].map(([repeat, records]) => repeatView(repeat, records, run));
}

/** `records`: those of this repeat, in order; at least one. */
export function repeatView(
  repeat: number, records: readonly HistoryRecord[], run: RecordOf<'run'> | undefined,
): RepeatView {
  const of = <T extends HistoryRecord['type']>(type: T): RecordOf<T>[] =>
    records.filter((record): record is RecordOf<T> => record.type === type);
  const clocks = new HostClocks();
  for (const record of of('clock')) clocks.add(record.clocks, record.wallMs);
  const firstMs = records[0]?.wallMs ?? 0;
  const plan = of('repeat')[0]?.plan ??
    { repeat, number: repeat, configuration: '', keep: { ranks: [], hosts: [] }, injections: [] };
  const injections = of('injection');
  return {
    plan,
    shape: run?.shape.configurations?.[plan.configuration] ?? run?.shape ?? NO_SHAPE,
    isGolden: run?.isGolden ?? false,
    followMs: 2 * leaseMs(run),
    clocks,
    target: of('target')[0],
    startMs: of('start')[0]?.wallMs ?? firstMs,
    endMs: records.at(-1)?.wallMs ?? firstMs,
    events: of('event').map(({ wallMs, event }) => ({ wallMs, event })),
    injections,
    injectionsById: byId(injections),
    outputs: of('output'),
    checks: of('check'),
    problems: of('problem').map(({ text }) => text),
    end: of('repeat-end')[0],
  };
}

function byId(injections: readonly RecordOf<'injection'>[]): ReadonlyMap<string, readonly RecordOf<'injection'>[]> {
  const found = new Map<string, RecordOf<'injection'>[]>();
  for (const record of injections) {
    const own = found.get(record.id);
    if (own === undefined) found.set(record.id, [record]);
    else own.push(record);
  }
  return found;
}

function leaseMs(run: RecordOf<'run'> | undefined): number {
  const value = run?.parameters.find(({ name }) => name === 'bootcom.lease')?.value;
  return typeof value === 'number' && value > 0 ? value : LEASE_MS;
}

/** Whole lines of the output, each rank's streams apart, in the order in which they began. */
export function linesOf(view: RepeatView): readonly { readonly rank: number; readonly line: string }[] {
  const texts = new Map<string, { rank: number; text: string }>();
  for (const { rank, stream, text } of view.outputs) {
    const key = `${rank} ${stream}`;
    const open = texts.get(key) ?? { rank, text: '' };
    open.text += text;
    texts.set(key, open);
  }
  return [...texts.values()].flatMap(({ rank, text }) =>
    text.replace(/\n$/, '').split('\n').map((line) => ({ rank, line })));
}
