/**
 * What Slurm says of an allocation and of its nodes, judged: is this job still there, has it all of its hosts, can a
 * step run on each. Pure.
 */

import { foldHostlist } from '@stci/core';
import { nodeVerdict } from '@stci/launcher-slurm';
import { isUnknownJob, parseJob, parseNodes, parseSteps, parseVersion, slurmProblem } from './slurm-answers.js';
import type { SlurmJob, SlurmNode, SlurmStep } from './slurm-answers.js';
import { bad, good, NONE, warn, type Check } from './check.js';

/** What a program of Slurm printed, or why it did not answer. */
export type Answer =
  | { readonly text: string }
  | { readonly failure: 'absent' | 'late' | 'failed'; readonly words: string };

export interface SlurmAnswers {
  /** The number in SLURM_JOB_ID. */
  readonly job: string;
  /** squeue of the job, of its steps; sinfo of the hosts; srun --version. */
  readonly squeue: Answer;
  readonly steps: Answer;
  readonly sinfo: Answer;
  readonly srun: Answer;
  /** Where `--no-kill` was seen; undefined: nowhere. */
  readonly noKill: string | undefined;
}

export interface AllocationReport {
  readonly source: 'slurm';
  /** As in SLURM_JOB_ID. */
  readonly job: string;
  /** Of srun. */
  readonly version?: string;
  readonly state?: string;
  readonly partition?: string;
  /** Until its limit, in Slurm's words. */
  readonly left?: string;
  /** Nodes that the job has now, folded. */
  readonly nodes?: string;
  /** Whether it outlives a lost node, and where that was seen; absent: not known, as Slurm does not tell it. */
  readonly noKill?: string;
  readonly steps: readonly SlurmStep[];
  /** Steps can be started in it. */
  readonly usable: boolean;
  readonly problems: readonly string[];
}

/** What Slurm says of a host: its state and CPUs, and the address at which it reaches it. */
export interface NodeChecks {
  readonly slurm: Check;
  readonly cpus: Check;
  readonly name: Check;
}

export interface SlurmReport {
  readonly allocation: AllocationReport;
  /** For each host that was asked for. */
  readonly nodes: ReadonlyMap<string, NodeChecks>;
}

/** States of a job in which it has its nodes. */
const LIVE: ReadonlySet<string> = new Set(['RUNNING', 'CONFIGURING', 'RESIZING', 'SIGNALING', 'SUSPENDED']);
const UNSET = "run 'unset ${!SLURM_@}', or leave this shell; then salloc anew";

/** `hosts`: those that are to be checked; `listed`: SLURM_JOB_NODELIST, expanded. */
export function judge(answers: SlurmAnswers, hosts: readonly string[], listed: readonly string[]): SlurmReport {
  const { job: id, srun, steps, sinfo } = answers;
  const problems: string[] = [];
  const textOf = (program: string, answer: Answer): string | undefined => {
    if ('text' in answer) return answer.text;
    const problem = problemOf(program, answer);
    if (!problems.includes(problem)) problems.push(problem);
    return undefined;
  };
  const job = judgeJob(answers, problems);
  const nodes = textOf('sinfo', sinfo);
  const version = parseVersion(textOf('srun', srun) ?? '');
  const told = 'text' in steps ? parseSteps(steps.text) : [];
  const isLive = job !== undefined && LIVE.has(job.state);
  const lost = isLive && job.nodes !== undefined ? listed.filter((name) => !job.nodes?.includes(name)) : [];
  const noKill = answers.noKill
    ?? (lost.length > 0 ? `the job has outlived the loss of ${foldHostlist(lost)}, or was resized` : undefined);
  const allocation: AllocationReport = {
    source: 'slurm', job: id,
    ...(version === undefined ? {} : { version }),
    ...(job === undefined ? {} : { state: job.state, partition: job.partition, left: job.left }),
    ...(job?.nodes === undefined ? {} : { nodes: foldHostlist(job.nodes) }),
    ...(noKill === undefined ? {} : { noKill }),
    steps: told,
    usable: isLive && job.state !== 'SUSPENDED' && 'text' in srun,
    problems,
  };
  const known = nodes === undefined ? undefined : parseNodes(nodes);
  const judgeOf = (name: string): NodeChecks => judgeNode(known?.get(name), {
    hasAnswer: known !== undefined, isLive, isLost: lost.includes(name), job: id,
  });
  return { allocation, nodes: new Map(hosts.map((name) => [name, judgeOf(name)])) };
}

function problemOf(program: string, { failure, words }: Exclude<Answer, { text: string }>): string {
  if (failure === 'absent') {
    const remedy = "Add the directory of Slurm's programs to PATH, or name srun: --mca launcher.slurm.client=PATH";
    return `${program} is not found here.\n  what to do: ${remedy}.`;
  }
  const late = failure === 'late' ? `no answer of ${program} in time: Unable to contact slurm controller\n` : '';
  return slurmProblem(program, `${words}\n${late}`);
}

/** undefined: nothing is known of it. */
function judgeJob({ job: id, squeue }: SlurmAnswers, problems: string[]): SlurmJob | undefined {
  const isGone = 'failure' in squeue && isUnknownJob(squeue.words);
  if ('failure' in squeue && !isGone) {
    problems.push(problemOf('squeue', squeue));
    return undefined;
  }
  const job = 'text' in squeue ? parseJob(squeue.text) : undefined;
  if (job === undefined || (!LIVE.has(job.state) && job.state !== 'PENDING')) {
    const ended = job === undefined ? 'Slurm has no such job any more' : `it has ended (${job.state})`;
    const text = `SLURM_JOB_ID is ${id}, but ${ended}: the SLURM_* variables are left over.`;
    problems.push(`${text}\n  what to do: ${UNSET}.`);
  } else if (job.state === 'PENDING') {
    const why = job.reason === undefined ? '' : ` (${job.reason})`;
    problems.push(`the job waits in the queue${why}: it was requeued.\n  what to do: leave this shell; when the job `
      + 'starts again, its script does.');
  } else if (job.state === 'SUSPENDED') {
    problems.push(`the job is suspended.\n  what to do: scontrol resume ${id}, or wait.`);
  }
  return job;
}

interface Place {
  /** sinfo has answered. */
  readonly hasAnswer: boolean;
  readonly isLive: boolean;
  readonly isLost: boolean;
  readonly job: string;
}

function judgeNode(node: SlurmNode | undefined, { hasAnswer, isLive, isLost, job }: Place): NodeChecks {
  if (node === undefined) {
    const text = "Slurm has no node of this name. Correct the host list: sinfo -N lists Slurm's names";
    const slurm: Check = hasAnswer ? bad('unknown', text) : { state: 'warn', text: '?' };
    return { slurm, cpus: NONE, name: NONE };
  }
  const { state, cpus, address } = node;
  const reason = node.reason === undefined ? '' : ` (${node.reason})`;
  const verdict = nodeVerdict(state);
  const common = {
    cpus: cpus === undefined ? NONE : good(`${cpus.allocated} of ${cpus.total} busy`),
    name: good(address),
  };
  // One text for all hosts of a cause, so that they are told together.
  const leave = 'Leave it out: --exclude. More: scontrol show node';
  if (isLost) {
    return { ...common, slurm: bad(state, `job ${job} does not have this node any more${reason}. ${leave}`) };
  }
  if (!isLive) return { ...common, slurm: { state: 'none', text: state } };
  if (verdict === 'dead') {
    return { ...common, slurm: bad(state, `Slurm has it ${state}${reason}: no step starts there. ${leave}`) };
  }
  if (verdict === 'silent') {
    const text = `its slurmd does not answer Slurm${reason}: no step starts there. ${leave}`;
    return { ...common, slurm: bad(state, text) };
  }
  if (verdict === 'drains') {
    const text = `Slurm drains it${reason}: steps of this job still start there, other jobs get it no more`;
    return { ...common, slurm: warn(state, text) };
  }
  return { ...common, slurm: good(state) };
}
