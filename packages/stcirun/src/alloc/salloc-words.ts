/**
 * What salloc says while it asks for an allocation and holds it: line by line, on its standard error. Pure; salloc's
 * texts are those of src/api/allocate.c and src/salloc of Slurm 22.05 and 24.11.
 */

import { StciError } from '@stci/interface';

export type SallocState = 'asking' | 'queued' | 'granted' | 'revoked';

/** Lines that are told once it is known what they mean, and their length. */
const NOTES_MAX = 20;
const LINE_CHARS_MAX = 500;

/** Steps of any allocation, whose job is the number. */
const STEPS: readonly (readonly [RegExp, SallocState | undefined])[] = [
  [/^Pending job allocation (\d+)/u, 'queued'],
  [/^job (\d+) queued and waiting/u, 'queued'],
  [/^job (\d+) has been allocated/u, 'granted'],
  [/^Granted job allocation (\d+)/u, 'granted'],
  [/^Job (?:allocation )?(\d+) has .*been revoked/u, 'revoked'],
  [/^Force Terminated (?:job|Job) (?:StepId=|JobId=)?(\d+)/u, 'revoked'],
  [/^(?:Waiting for resource configuration|Nodes .* (?:is|are) ready|Relinquishing job allocation)/u, undefined],
];

const GIVEN_UP = /^error: Unable to clean up job allocation(?!.*Invalid job id)/u;

/** salloc's words when `--immediate=SECONDS` is over; a controller that does not answer has others. */
const NOT_IN_TIME = /^Unable to allocate resources: Connection timed out$/u;
const IMMEDIATE = / (--imm?e?d?i?a?t?e?=(\d+)|-[HOQsv]*I(\d+))/u;

/** What to do about Slurm's words. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/account|qos/iu, "'sacctmgr show associations user=$USER' lists your accounts."],
  [/partition/iu, "'sinfo' lists the partitions."],
  [/Requested nodes are busy|not granted within/u,
    'Give --immediate more seconds, or leave it out to wait in the queue.'],
  [/unable to contact|connection refused|timed out|not respond/iu, "'scontrol ping' tells whether slurmctld answers."],
  [/authenticat|credential|munge/iu, "Authentication failed: 'munge -n | unmunge' tells whether munge runs here."],
  [/unrecognized option|invalid option|ambiguous/u, "'salloc --help' lists its options."],
  [/cancelled/iu, 'The job was cancelled while it was queued.'],
  [/configuration is not available|Node count|Invalid node name|feature|gres|processors/iu,
    "'sinfo -N -l' shows which nodes there are, and what they have."],
];

export class SallocLog {
  /** How salloc ended, as `exit code 1`, where that is known. */
  exit: string | undefined;
  #state: SallocState = 'asking';
  #job: string | undefined;
  /** What salloc said beside its steps, and has not been told. */
  #notes: string[] = [];
  #revoked: string | undefined;

  get state(): SallocState {
    return this.#state;
  }

  /** Number of the job; undefined: salloc has not told it. */
  get job(): string | undefined {
    return this.#job;
  }

  /** Slurm's words for the end of the allocation. */
  get revoked(): string | undefined {
    return this.#revoked;
  }

  /** salloc has ended without an answer to its giving back. */
  get isGivenUp(): boolean {
    return this.#notes.some((note) => GIVEN_UP.test(note));
  }

  /** One line. Returns what is to be told of it now: remarks of Slurm that are no step and no error. */
  add(line: string): readonly string[] {
    const text = line.trimEnd().slice(0, LINE_CHARS_MAX);
    if (text === '') return [];
    const words = text.replace(/^salloc: /u, '');
    const step = STEPS.find(([pattern]) => pattern.test(words));
    if (step === undefined) this.#notes = [...this.#notes, words].slice(-NOTES_MAX);
    else this.#onStep(words, ...step);
    return this.#state === 'queued' || this.#state === 'granted' ? this.#takeRemarks() : [];
  }

  #onStep(words: string, pattern: RegExp, state: SallocState | undefined): void {
    this.#job ??= pattern.exec(words)?.[1];
    if (state === undefined || this.#state === 'revoked') return;
    this.#state = state;
    if (state === 'revoked') this.#revoked = words;
  }

  #takeRemarks(): readonly string[] {
    const remarks = this.#notes.filter((note) => !isError(note));
    this.#notes = this.#notes.filter(isError);
    return remarks;
  }

  /** Why there is no allocation; `command`: what was asked. */
  refusal(command: string): StciError {
    const [, option, long, short] = IMMEDIATE.exec(command) ?? [];
    const inTime = (note: string): string => (option === undefined ? note
      : note.replace(NOT_IN_TIME, `not granted within ${long ?? short} s (${option})`));
    const words = this.#notes.filter((note) => note !== 'Job aborted due to signal').map(withoutError).map(inTime);
    const said = words.length > 0 ? words.join('\n  ') : this.#revoked ?? 'salloc said nothing';
    const exit = this.exit === undefined ? '' : ` (salloc ended with ${this.exit})`;
    const remedy = REMEDIES.find(([pattern]) => pattern.test(said))?.[1];
    const more = remedy === undefined ? '' : `\n  ${remedy}`;
    return new StciError('STCI_ALLOCATION_REFUSED',
      `Slurm gave no allocation: ${said}\n  Asked for by: ${command}${exit}${more}`, { data: this.#data() });
  }

  /** Why an allocation that is used has ended. */
  loss(job = this.#job ?? '?'): StciError {
    const exit = this.exit === undefined ? '' : ` (${this.exit})`;
    const text = this.#revoked === undefined
      ? `Slurm job ${job} is given back: salloc, which held it, has ended${exit}.`
      : `Slurm job ${job} has ended: ${this.#revoked}`;
    return new StciError('STCI_ALLOCATION_ENDED', text, { data: { job } });
  }

  #data(): Readonly<Record<string, string>> {
    return { ...(this.#job !== undefined && { job: this.#job }) };
  }
}

function isError(note: string): boolean {
  return note.startsWith('error: ') || note.startsWith('fatal: ');
}

function withoutError(note: string): string {
  return note.replace(/^(?:error|fatal): /u, '');
}
