/**
 * All checks of the hosts of a Slurm job: what Slurm says of each beside what is found there, by a step in the job or
 * by logins.
 */

import { expandHostlist } from '@stci/core';
import type { HostSpec } from '@stci/interface';
import { nodeError, type SlurmParams } from '@stci/launcher-slurm';
import { askSlurm } from './ask-slurm.js';
import { CLOCKS, factChecks, hostReport, type DoctorParams, type HostReport } from './check-host.js';
import { bad, NONE, type Check } from './check.js';
import { probeProgram } from './probe.js';
import { judge, type AllocationReport, type NodeChecks } from './slurm-report.js';
import { runStepProbe, type StepResult, type TaskResult } from './step-probe.js';

export interface AllocationParams extends DoctorParams {
  /** In SLURM_JOB_ID. */
  readonly job: string;
  /** SLURM_JOB_NODELIST. */
  readonly nodelist: string;
  readonly slurm: SlurmParams;
}

export interface AllocationChecks {
  readonly allocation: AllocationReport;
  readonly reports: readonly HostReport[];
}

/** Checks hosts by logins. */
export type CheckByLogin = (hosts: readonly HostSpec[], params: DoctorParams) => Promise<readonly HostReport[]>;

/** Never rejects; takes little more than twice the deadline: Slurm's answers, then the hosts'. */
export async function checkAllocation(
  hosts: readonly HostSpec[], params: AllocationParams, byLogin: CheckByLogin,
): Promise<AllocationChecks> {
  const names = hosts.map(({ name }) => name);
  const answers = await askSlurm(params.slurm.client, params.job, names, params.deadlineMs);
  const { allocation, nodes } = judge(answers, names, listed(params.nodelist));
  if (params.ssh !== undefined) {
    const reports = await byLogin(hosts, params);
    return {
      allocation,
      reports: reports.map(({ host, ms, checks, linked }) => {
        const { slurm = NONE, cpus = NONE } = nodes.get(host) ?? {};
        return hostReport(host, ms, { slurm, cpus, ...checks }, linked);
      }),
    };
  }
  return { allocation, reports: await checkByStep(names, nodes, allocation.usable, params) };
}

function listed(nodelist: string): readonly string[] {
  try {
    return expandHostlist(nodelist).map(({ name }) => name);
  } catch {
    return [];
  }
}

async function checkByStep(
  names: readonly string[], nodes: ReadonlyMap<string, NodeChecks>, canStep: boolean, params: AllocationParams,
): Promise<HostReport[]> {
  const startMs = performance.now();
  // A host that Slurm has as down would keep the step from all others.
  const able = names.filter((name) => canStep && nodes.get(name)?.slurm.state !== 'bad');
  const { deadlineMs } = params;
  const init = { hosts: able, program: probeProgram(params), slurm: params.slurm, clocks: CLOCKS, deadlineMs };
  const step = able.length === 0 ? undefined : await runStepProbe(init);
  const ms = performance.now() - startMs;
  return names.map((name) => {
    const { slurm = NONE, cpus = NONE, name: address = NONE } = nodes.get(name) ?? {};
    const task = step?.tasks.get(name);
    const facts = factChecks({ facts: task?.facts, clock: task?.clock }, params.ports);
    const found = step === undefined || task === undefined
      ? { slurm: slurm.state === 'bad' ? slurm : { ...slurm, state: 'bad' as const } }
      : taskChecks(name, task, step, slurm, params);
    return hostReport(name, ms, { slurm, cpus, ...facts, name: address, ...found }, task?.facts?.linked);
  });
}

/** Why no facts came of a host that a step was to run on. */
function taskChecks(
  host: string, task: TaskResult, step: StepResult, slurm: Check, { deadlineMs, slurm: params }: AllocationParams,
): Partial<Record<'slurm' | 'node', Check>> {
  if (task.facts !== undefined) return {};
  const printed = [...step.lines, ...task.lines].map((line) => `\n  srun printed: ${line}`).join('');
  if (task.noNode !== undefined) return { node: bad('FAIL', nodeError(host, task.noNode, params.node).message) };
  if (task.invalid !== undefined) {
    return { node: bad('FAIL', `the host sent an answer that cannot be used: ${task.invalid}.`) };
  }
  const what = step.isLate
    ? `no answer of a step of this job within ${deadlineMs} ms` : 'Slurm runs no step of this job there';
  const remedy = 'Leave it out (--exclude), allow more time (--timeout), or check it by a login: --launcher ssh';
  return { slurm: bad(slurm.text, `${what}.${printed}\n  what to do: ${remedy}.`) };
}
