/**
 * What a run says of failures while the job runs, each once: with --verbose at once; where they do not end the job,
 * when they are known; else in the summary at the end. Where a detector watches the agents, or an overlay links them,
 * the loss of one is told as soon as its record is complete, with all that is known of it.
 */

import type { ErrorRecord, FailureRecord, JobEvent, MemberEvent, RecoveryEvent } from '@stci/interface';
import { recordText } from './record-text.js';
import { memberText, recoveryText } from './recovery-text.js';
import { withHosts } from './report.js';

/** Records that are told one by one: a switch that dies takes many hosts. */
const RECORDS_SHOWN = 4;

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
  /** Messages of failures that were reported when they were known, as they came and as they were shown. */
  readonly reported = new Set<string>();
  /** Whose failures' records were shown, with their ranks. */
  readonly recordedHosts = new Set<string>();
  /** Names of hosts that did not come up, and without which the job runs. */
  readonly leftOut = new Set<string>();
  /** Where the error manager tolerates it, it is reported with what is done about it. */
  last: ErrorRecord | undefined;
  readonly #init: FailureNewsInit;
  /** By host, messages of its agents' losses. */
  readonly #losses = new Map<string, string[]>();
  /** Records of lost hosts are told. */
  #isWatched = false;
  #recordsShown = 0;

  constructor(init: FailureNewsInit) {
    this.#init = init;
  }

  /** `isOwn`: the front-end caused it, and has reported it. */
  onFailure({ error, isRecorded = false }: FailureEvent, isOwn: boolean): void {
    const { verbose, toleratesFailures, say, logStep } = this.#init;
    const { code, data, host, rank } = error;
    this.last = error;
    this.#isWatched ||= isRecorded;
    if (host !== undefined && rank === undefined && code === 'STCI_AGENT_LOST') {
      this.#losses.set(host, [...(this.#losses.get(host) ?? []), error.message]);
    }
    // The error manager decides whether a host that does not come up is a failure of the job.
    const atOnce = !isRecorded && (verbose || (toleratesFailures && code !== 'STCI_LAUNCH_FAILED'));
    const text = withHosts(error);
    if (!atOnce || this.reported.has(text) || isOwn) return;
    const searched = data?.['searched'] === undefined ? '' : `\n  PATH=${data['searched']}`;
    if (verbose) logStep(`failure: ${text}${searched}`, true);
    else say(this.reported.size === 0 ? text : `also: ${text}`);
    this.#report(error.message, text);
  }

  onRecord(record: FailureRecord): void {
    const { verbose, say, logStep } = this.#init;
    const { subject, hostName, detector, notified } = record;
    const isWatched = notified > 0 || detector !== 'link' || (this.#isWatched && subject.kind === 'host');
    const isShown = subject.kind !== 'tool' && isWatched && this.#recordsShown < RECORDS_SHOWN;
    if (!verbose && !isShown) return;
    this.#recordsShown += 1;
    if (verbose) logStep(recordText(record));
    else say(recordText(record));
    if (subject.kind !== 'host') return;
    this.recordedHosts.add(hostName);
    this.#report(...(this.#losses.get(hostName) ?? []));
  }

  onMember(event: MemberEvent): void {
    this.#init.logStep(memberText(event));
  }

  /** The failure that was reported just before does not end the job. */
  onRecovery(event: RecoveryEvent): void {
    const { phase, action, name, error: { message } } = event;
    const text = recoveryText(event);
    if (phase === 'launching' && action === 'leave-out') this.leftOut.add(name);
    // What becomes of a lost host concerns later jobs.
    if (phase !== 'launching' || action === 'start-again') this.#init.logStep(text);
    else this.#init.say(this.reported.has(message) ? text : `${text}: ${message}`, true);
  }

  /** The job is ending for this reason, and that takes long. */
  onStall(reason: string | undefined): void {
    const { last } = this;
    if (last === undefined || last.message !== reason || this.reported.has(last.message)) return;
    this.#init.say(withHosts(last));
    this.#report(last.message);
  }

  #report(...messages: readonly string[]): void {
    for (const message of messages) this.reported.add(message);
  }
}
