/**
 * What Slurm's programs answer, as records: squeue of a job and of its steps, sinfo of nodes. The formats are those
 * that squeue(1) and sinfo(1) have alike since long before 22.05, with `|` between the fields and the field that may
 * hold any text last. And Slurm's errors, with what to do about them. Pure.
 */

import { expandHostlist } from '@stci/core';
import { printable } from '@stci/interface';

export const JOB_FORMAT = '%i|%T|%P|%L|%N|%r';
export const STEP_FORMAT = '%i|%N|%M|%j';
export const NODE_FORMAT = '%N|%T|%C|%o|%v|%E';

export interface SlurmJob {
  /** `17`, `17_3` of an array. */
  readonly id: string;
  /** In Slurm's words: `RUNNING`, `COMPLETED`. */
  readonly state: string;
  readonly partition: string;
  /** `9:58`, `1-02:03:04`, `UNLIMITED`, `INVALID` where it is over. */
  readonly left: string;
  /** Nodes that the job has now; undefined where they cannot be read. */
  readonly nodes: readonly string[] | undefined;
  /** Why it is in this state; undefined: Slurm tells none. */
  readonly reason: string | undefined;
}

export interface SlurmStep {
  /** `17.0`, `17.batch`. */
  readonly id: string;
  /** A host list. */
  readonly nodes: string;
  /** How long it has run: `1:03`. */
  readonly time: string;
  readonly name: string;
}

export interface SlurmNode {
  readonly name: string;
  /** In sinfo's words, with its marks: `mixed`, `down*`, `draining@`. */
  readonly state: string;
  /** Numbers of CPUs; undefined where Slurm tells none. */
  readonly cpus: { readonly allocated: number; readonly idle: number; readonly total: number } | undefined;
  /** By which Slurm reaches its slurmd. */
  readonly address: string;
  /** Of its slurmd. */
  readonly version: string;
  /** Why it is drained or down; undefined: none. */
  readonly reason: string | undefined;
}

/** The fields of each line, the last one with all that is left. */
function records(text: string, count: number): string[][] {
  return text.split('\n').flatMap((line) => {
    const fields = printable(line).split('|');
    if (fields.length < count) return [];
    return [[...fields.slice(0, count - 1), fields.slice(count - 1).join('|').trim()]];
  });
}

const told = (text: string, ...none: string[]): string | undefined => (none.includes(text) ? undefined : text);

/** Of JOB_FORMAT; undefined where Slurm has no such job. */
export function parseJob(text: string): SlurmJob | undefined {
  const [record] = records(text, 6);
  if (record === undefined) return undefined;
  const [id = '', state = '', partition = '', left = '', nodes = '', reason = ''] = record;
  return { id, state, partition, left, nodes: expanded(nodes), reason: told(reason, 'None', '(null)', '') };
}

function expanded(nodes: string): readonly string[] | undefined {
  try {
    return nodes === '' ? [] : expandHostlist(nodes).map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/** Of STEP_FORMAT. */
export function parseSteps(text: string): SlurmStep[] {
  return records(text, 4).map(([id = '', nodes = '', time = '', name = '']) => ({ id, nodes, time, name }));
}

/** Of NODE_FORMAT, by name: sinfo has a line for each partition of a node. */
export function parseNodes(text: string): Map<string, SlurmNode> {
  return new Map(records(text, 6).map(([name = '', state = '', cpus = '', address = '', version = '', reason = '']) => {
    const [, allocated, idle, total] = /^(\d+)\/(\d+)\/\d+\/(\d+)$/.exec(cpus) ?? [];
    return [name, {
      name, state, address, version,
      cpus: total === undefined ? undefined
        : { allocated: Number(allocated), idle: Number(idle), total: Number(total) },
      reason: told(reason, 'none', 'None', '(null)', ''),
    }];
  }));
}

/** `slurm-wlm 22.05.8`, `slurm 24.11.5`: the number; undefined where it has none. */
export function parseVersion(text: string): string | undefined {
  return /^slurm\S* (\d+\.\d+[^\s]*)/m.exec(text)?.[1];
}

/** Slurm's words → their meaning, and what to do. */
const ERRORS: readonly (readonly [words: RegExp, meaning: string, remedy: string])[] = [
  [
    /munge|authentication error|Invalid authentication credential/i,
    'Slurm has no credentials, as munge does not answer',
    'Start munged on this machine (systemctl start munge), or ask who runs it; munge -n tries it',
  ],
  [
    /Unable to contact slurm controller|Connection refused|connect failure|Socket timed out/i,
    "Slurm's controller does not answer",
    'Try it with: scontrol ping. What runs goes on, but no step starts until it is back',
  ],
  [
    /cannot stat file|Could not establish a configuration source|resolve_ctls_from_dns_srv/i,
    'Slurm finds no configuration',
    'Look at SLURM_CONF: it names slurm.conf if it is not in the usual place',
  ],
];

/** A program of Slurm that did not answer: what it printed, or how it ended, with a remedy. */
export function slurmProblem(program: string, words: string): string {
  const lines = words.split('\n').map((line) => printable(line.trim())).filter((line) => line !== '');
  const quoted = lines.slice(-3).map((line) => `\n  ${program} printed: ${line}`).join('');
  const [, meaning, remedy] = ERRORS.find(([pattern]) => pattern.test(words)) ?? [];
  const [is, todo] = meaning === undefined || remedy === undefined
    ? [`${program} failed`, `Run ${program} by hand`] : [meaning, remedy];
  return `${is}.${quoted}\n  what to do: ${todo}.`;
}

/** Whether Slurm's words say that it has no such job any more. */
export function isUnknownJob(words: string): boolean {
  return /Invalid job id/i.test(words);
}
