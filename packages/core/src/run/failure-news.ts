/**
 * What a run says of failures while the job runs, each once: with --verbose at once; where they do not end the job,
 * when they are known; else in the summary at the end. Where a detector watches the agents, or an overlay links them,
 * the loss of one is told as soon as its record is complete, with all that is known of it.
 */

import type { ErrorRecord, FailureId, FailureRecord, JobEvent, RecoveryEvent } from '@stci/interface';
import { Once } from '../event/once.js';
import { recordText } from './record-text.js';
import { recoveryText } from './recovery-text.js';
import { errorKey, withHosts } from './report.js';

/** Records that are told one by one: a switch that dies takes many hosts. */
const RECORDS_SHOWN = 4;

/** What was told that is remembered. */
const TOLD_MAX = 4096;

export type EndingEvent = Extract<JobEvent, { readonly type: 'ending' }>;
type FailureEvent = Extract<JobEvent, { readonly type: 'failure' }>;

export interface FailureNewsInit {
  readonly verbose: boolean;
  /** Failures do not end the job. */
  readonly toleratesFailures: boolean;
  /** Errors: always. Remarks: not with --quiet. */
  say(text: string, isRemark?: boolean): void;
  /** With --verbose. */
  logStep(text: string, isError?: boolean): void;
}

export class FailureNews {
  /** Failures that were told when they were known, by `errorKey`. */
  readonly reported = new Once<string>(TOLD_MAX);
  /** Failures whose records were shown, with the ranks that were lost. */
  readonly recorded = new Once<FailureId>(TOLD_MAX);
  /** Names of hosts that did not come up, and without which the job runs. */
  readonly leftOut = new Set<string>();
  /** Where the error manager tolerates it, it is reported with what is done about it. */
  last: ErrorRecord | undefined;
  readonly #init: FailureNewsInit;
  /** Texts that were shown, of ranks and of failures without an id: what is the same of several is said once. */
  readonly #texts = new Once<string>(TOLD_MAX);
  /** Records of lost hosts are told. */
  #isWatched = false;
  #recordsShown = 0;

  constructor(init: FailureNewsInit) {
    this.#init = init;
  }

  /** `isOwn`: the front-end caused it, and has reported it. */
  onFailure({ error, isRecorded = false }: FailureEvent, isOwn: boolean): void {
    const { verbose, toleratesFailures, say, logStep } = this.#init;
    const { code, data, failure, rank } = error;
    this.last = error;
    this.#isWatched ||= isRecorded;
    // The error manager decides whether a host that does not come up is a failure of the job.
    const atOnce = !isRecorded && (verbose || (toleratesFailures && code !== 'STCI_LAUNCH_FAILED'));
    const text = withHosts(error);
    const isFirst = this.reported.size === 0;
    if (!atOnce || isOwn) return;
    const isNew = this.reported.add(errorKey(error)) || failure === undefined;
    if (!isNew || ((rank !== undefined || failure === undefined) && !this.#texts.add(text))) return;
    const searched = data?.['searched'] === undefined ? '' : `\n  PATH=${data['searched']}`;
    if (verbose) logStep(`failure: ${text}${searched}`, true);
    else say(isFirst ? text : `also: ${text}`);
  }

  onRecord(record: FailureRecord): void {
    const { verbose, say, logStep } = this.#init;
    const { failure, subject, detector, notified } = record;
    const isWatched = notified > 0 || detector !== 'link' || (this.#isWatched && subject.kind === 'host');
    const isShown = subject.kind !== 'tool' && isWatched && this.#recordsShown < RECORDS_SHOWN;
    if (!verbose && !isShown) return;
    this.#recordsShown += 1;
    if (verbose) logStep(recordText(record));
    else say(recordText(record));
    if (subject.kind !== 'host') return;
    this.recorded.add(failure);
    this.reported.add(failure);
  }

  /** Why the job is ending was told. */
  hasTold({ reason, failure = reason }: EndingEvent): boolean {
    return this.reported.has(failure);
  }

  /** The failure that was reported just before does not end the job. */
  onRecovery(event: RecoveryEvent): void {
    const { phase, action, name, error } = event;
    const text = recoveryText(event);
    if (phase === 'launching' && action === 'leave-out') this.leftOut.add(name);
    // What becomes of a lost host concerns later jobs.
    if (phase !== 'launching' || action === 'start-again') this.#init.logStep(text);
    else this.#init.say(this.reported.has(errorKey(error)) ? text : `${text}: ${error.message}`, true);
  }

  /** The job is ending, and that takes long. */
  onStall(ending: EndingEvent): void {
    const { last } = this;
    if (last === undefined || errorKey(last) !== (ending.failure ?? ending.reason) || this.hasTold(ending)) return;
    this.#init.say(withHosts(last));
    this.reported.add(errorKey(last));
  }
}
