/**
 * From Slurm's messages to advice for the user. One table of Slurm's own sentences; its text is kept in every message:
 * the advice is a guess, the text is the fact.
 */

import { NODE_MAJOR_MIN } from '@stci/host-program';
import type { ErrorRecord } from '@stci/interface';
import type { StepEnd } from './step.js';

export interface Finding {
  readonly what: string;
  readonly remedy: string;
  /** Slurm refuses the hosts: which of them, it says only when asked. */
  readonly isOfHosts?: boolean;
}

const ELSE = 'or start over ssh: --launcher ssh';

const CONTROLLER: Finding = {
  what: 'Slurm\'s controller does not answer',
  remedy: `Wait until "scontrol ping" says that it is UP, ${ELSE}.`,
};

/** The first match counts: causes precede their consequences. */
const SENTENCES: readonly (readonly [RegExp, Finding])[] = [
  [/munge|Protocol authentication error|Invalid authentication credential/i, {
    what: 'Slurm\'s authentication fails here',
    remedy: `Have munged started on this machine (unmunge < /dev/null tells whether it runs), ${ELSE}.`,
  }],
  [/Unable to process configuration|Could not establish a configuration source|s_p_parse_file/i, {
    what: 'Slurm\'s configuration is not found here',
    remedy: `Is SLURM_CONF right, and this machine one of the cluster's? Correct it, ${ELSE}.`,
  }],
  [/Unable to contact slurm controller|Socket timed out|Zero Bytes were transmitted|Connection refused/i, CONTROLLER],
  [/job \S+ has expired|Invalid job id|job\/step already completing|Expired or invalid job|for --jobid/i, {
    what: 'the allocation has ended, and SLURM_* variables of it are left over here',
    remedy: 'Leave the shell of that job, or unset SLURM_JOB_ID. Then get another allocation (salloc), or name hosts: '
      + '--host.',
  }],
  [/Only allocated \d+ nodes|node configuration is not available|nodes are busy|[Nn]ode.* not available/i, {
    what: 'Slurm refuses the hosts', isOfHosts: true,
    remedy: 'See what it says of them: sinfo -N -l. Leave those out that do not work, with -N or --host.',
  }],
  [/conflicts with allocated node count|Invalid node name|Nodelist|invalid node/i, {
    what: 'Slurm refuses the hosts', isOfHosts: true,
    remedy: 'The allocation may have changed since this shell began: compare with squeue -j JOB.',
  }],
  [/More processors requested|Memory.*(requested|available)|generic.*resource|Unable to create step/i, {
    what: 'Slurm refuses the step',
    remedy: 'It takes what the job has: see whether launcherproc.slurm.options ask for more, or the job is too small.',
  }],
  [/unrecognized option|invalid option|Try "srun --help"|Invalid .* specification/i, {
    what: 'srun refuses its options', remedy: 'Correct launcherproc.slurm.options.',
  }],
  [/CANCELLED AT|Job step aborted/, {
    what: 'Slurm ended the step before the agents waited', remedy: 'Ask why: scontrol show job JOB, or sacct -j JOB.',
  }],
];

const UNKNOWN: Finding = { what: 'the step ended before the agents waited', remedy: 'See what Slurm printed.' };

/** Longest line of Slurm in a message. */
const WORDS_CHARS_MAX = 300;
const LINES_SHOWN_MAX = 4;

/** Why a step did not come up. */
export function findCause({ lines, failure }: Pick<StepEnd, 'lines' | 'failure'>): Finding {
  if (failure !== undefined) {
    return {
      what: failure.replace(/\.$/, ''),
      remedy: `Load Slurm's programs here (module load slurm), name srun: --mca launcher.slurm.client=PATH, ${ELSE}.`,
    };
  }
  const text = lines.join('\n');
  return SENTENCES.find(([pattern]) => pattern.test(text))?.[1] ?? UNKNOWN;
}

/** What Slurm has told of a step of which nothing was heard. */
export interface SilentStep extends Pick<StepEnd, 'lines'> {
  /** srun's word of what the step waits for. */
  readonly waitsFor: string | undefined;
  /** A question to Slurm was answered. */
  readonly hasAnswer: boolean;
}

/** Why nothing was heard of any host; undefined: Slurm has not told. */
export function findSilence({ lines, waitsFor, hasAnswer }: SilentStep): Finding | undefined {
  const finding = findCause({ lines });
  if (finding !== UNKNOWN && finding.isOfHosts !== true) return finding;
  if (waitsFor !== undefined) {
    return {
      what: `Slurm keeps the step waiting: ${waitsFor}`,
      remedy: 'Other steps may have the hosts for themselves: squeue --steps. Wait longer: '
        + '--mca launcher.slurm.connect=1m.',
    };
  }
  if (finding !== UNKNOWN) return finding;
  return hasAnswer ? undefined : CONTROLLER;
}

/** The error of one host of a step that did not come up; `how` srun ended, if not by itself. */
export function stepError(
  host: string, report: StepEnd, finding = findCause(report), how = endText(report),
): ErrorRecord {
  const { lines, failure } = report;
  const shown = lines.slice(-LINES_SHOWN_MAX).map((line) => `\n  srun printed: ${cut(line)}`).join('');
  const ended = failure === undefined ? `${shown}\n  ${how}` : '';
  return hostError(host, 'step', `${finding.what}.${ended}`, finding.remedy);
}

function endText({ end }: StepEnd): string {
  return end.signal === undefined ? `srun ended with status ${end.status ?? 0}` : `srun was killed by ${end.signal}`;
}

/** The error of one host. */
export function hostError(host: string, phase: string, what: string, remedy: string): ErrorRecord {
  const message = `phase ${phase}: ${what}\n  what to do: ${remedy}`;
  return { code: 'STCI_LAUNCH_FAILED', message, host, data: { phase } };
}

/** The error of a host because of which the others are started without it: Slurm's words when asked, and srun's. */
export function refusedError(host: string, step: string | undefined, words: readonly string[]): ErrorRecord {
  const what = `the step${step === undefined ? '' : ` ${step}`} cannot have this host: ${words.join('; ')}.`;
  return hostError(host, 'step', what, 'See what Slurm has it as (sinfo -N -l). Until it works, leave it out: '
    + `--exclude ${host}, or --on-launch-failure shrink.`);
}

/** … if nothing was heard of any. */
export function silentError(host: string, what: string): ErrorRecord {
  return hostError(host, 'step', `${what}.`, 'Look at the host, or wait longer: --mca launcher.slurm.connect=30s.');
}

/** `text`: the host's answer, `none` or `old PATH VERSION, …`. */
export function nodeError(host: string, text: string, named: string): ErrorRecord {
  const none = named === ''
    ? 'the host has no node: neither in PATH, nor where ours is, nor in the usual places'
    : `the host has no program ${named} (launcher.slurm.node)`;
  const what = text.startsWith('old ') ? `found ${text.slice(4)}; Node ${NODE_MAJOR_MIN} or later is needed` : none;
  return hostError(host, 'node', what,
    `Install Node ${NODE_MAJOR_MIN} or later there, or name one that is there: --mca launcher.slurm.node=PATH.`);
}

function cut(text: string): string {
  return text.length <= WORDS_CHARS_MAX ? text : `${text.slice(0, WORDS_CHARS_MAX)}…`;
}
