/**
 * Judges a run while it is made, or read: each repeat when it ends. After that only what a report shows of it is kept,
 * so that a long run takes no more memory for what its targets write and its sessions tell.
 */

import type { History, HistoryRecord } from '../history/contracts.js';
import type { RepeatSummary, RunSummary } from './contracts.js';
import { drawnRepeats } from './drawn-repeats.js';
import { repeatsOf, repeatView, type RecordOf } from './repeat-view.js';
import { judgeSafely, summaryOf } from './summary.js';
import type { Within } from './within.js';

export class RunJudge {
  readonly #directory: string;
  readonly #within: Within | undefined;
  #run: RecordOf<'run'> | undefined;
  /** Of no repeat, but the first. */
  readonly #rest: HistoryRecord[] = [];
  /** Of the repeat that runs. */
  #open: HistoryRecord[] = [];
  #openRepeat: number | undefined;
  readonly #kept = new Map<number, readonly HistoryRecord[]>();
  readonly #repeats: RepeatSummary[] = [];
  #drawn: readonly RepeatSummary[] = [];

  /** `within`: for patterns of checks. */
  constructor(directory: string, within?: Within) {
    this.#directory = directory;
    this.#within = within;
  }

  /** Records as they were made; repeats follow each other. What comes of one after its end says nothing. */
  add(record: HistoryRecord): void {
    const repeat = record.type === 'repeat' ? record.plan.repeat : 'repeat' in record ? record.repeat : undefined;
    if (record.type === 'run') this.#run ??= record;
    else if (repeat === undefined) this.#rest.push(record);
    else this.#addTo(repeat, record);
  }

  #addTo(repeat: number, record: HistoryRecord): void {
    if (this.#kept.has(repeat)) return;
    // The end of the one before was lost.
    if (repeat !== this.#openRepeat) this.#judge();
    this.#openRepeat = repeat;
    this.#open.push(record);
    if (record.type === 'repeat-end') this.#judge();
  }

  /** Whether the last repeat that has ended passed. */
  get didPass(): boolean {
    return this.#repeats.at(-1)?.isPassed === true;
  }

  /** All records of the repeats that a report draws; of the others, what was planned and injected. */
  history(isCutOff = false): History {
    const first = this.#run === undefined ? [] : [this.#run];
    const records = [...first, ...[...this.#kept.values()].flat(), ...this.#open, ...this.#rest];
    return { directory: this.#directory, records, isCutOff };
  }

  summary(isCutOff = false): RunSummary {
    const history = this.history(isCutOff);
    const views = repeatsOf(history);
    const open = this.#openRepeat === undefined ? [] : [this.#judged(this.#openRepeat)];
    return summaryOf(history, views, [...this.#repeats, ...open]);
  }

  #judged(repeat: number): RepeatSummary {
    const { checks = [] } = this.#run?.experiment ?? {};
    return judgeSafely(repeatView(repeat, this.#open, this.#run), checks, this.#within);
  }

  #judge(): void {
    const repeat = this.#openRepeat;
    if (repeat === undefined) return;
    const summary = this.#judged(repeat);
    this.#repeats.push(summary);
    this.#kept.set(repeat, this.#open);
    this.#open = [];
    this.#openRepeat = undefined;
    // What is not drawn now is not drawn later either: those that come only take places.
    const before = [...this.#drawn, summary];
    this.#drawn = drawnRepeats(before);
    for (const one of before) if (!this.#drawn.includes(one)) this.#thin(one.repeat);
  }

  #thin(repeat: number): void {
    const records = this.#kept.get(repeat) ?? [];
    this.#kept.set(repeat, records.filter(({ type }) => type === 'repeat' || type === 'injection'));
  }
}
