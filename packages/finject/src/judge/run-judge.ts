/**
 * Judges a run while it is made: each repeat when it ends. After that only what a report shows of it is kept, so that a
 * long run takes no more memory for what its targets write and its sessions tell.
 */

import type { History, HistoryRecord } from '../history/contracts.js';
import { drawnRepeats } from '../report/drawn-repeats.js';
import type { RepeatSummary, RunSummary } from './contracts.js';
import { repeatsOf, repeatView, type RecordOf } from './repeat-view.js';
import { judgeSafely, summaryOf } from './summary.js';

export class RunJudge {
  readonly #directory: string;
  #run: RecordOf<'run'> | undefined;
  /** Of no repeat, but the first. */
  readonly #rest: HistoryRecord[] = [];
  /** Of the repeat that runs. */
  #open: HistoryRecord[] = [];
  readonly #kept = new Map<number, readonly HistoryRecord[]>();
  readonly #repeats: RepeatSummary[] = [];
  #drawn: readonly RepeatSummary[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Records as they are made; repeats follow each other. */
  add(record: HistoryRecord): void {
    if (record.type === 'run') this.#run = record;
    else if (record.type !== 'repeat' && !('repeat' in record)) this.#rest.push(record);
    else this.#open.push(record);
    if (record.type === 'repeat-end') this.#judge(record.repeat);
  }

  /** Of the last repeat that has ended. */
  get didPass(): boolean {
    return this.#repeats.at(-1)?.isPassed === true;
  }

  /** With all records of the repeats that a report draws; of the others, what was planned and injected. */
  history(): History {
    const first = this.#run === undefined ? [] : [this.#run];
    const records = [...first, ...[...this.#kept.values()].flat(), ...this.#open, ...this.#rest];
    return { directory: this.#directory, records, isCutOff: false };
  }

  summary(): RunSummary {
    const history = this.history();
    const views = repeatsOf(history);
    const isOpen = this.#open.length > 0 && views.length > 0;
    const open = isOpen ? views.slice(-1).map((view) => judgeSafely(view, this.#run?.experiment.checks ?? [])) : [];
    return summaryOf(history, views, [...this.#repeats, ...open]);
  }

  #judge(repeat: number): void {
    const summary = judgeSafely(repeatView(repeat, this.#open, this.#run), this.#run?.experiment.checks ?? []);
    this.#repeats.push(summary);
    this.#kept.set(repeat, this.#open);
    this.#open = [];
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
