/**
 * What any launcherproc can be asked: an agent is started on the host by it, as for a job, and starts a program. What
 * has failed is told in the words of the launch: what a command around the agent printed, and how it ended.
 */

import { EXIT, type HostSpec } from '@stci/interface';
import { launch } from '../library/job.js';
import { hostReport, type HostReport } from './check-host.js';
import type { LaunchesToCheck } from './check-launches.js';
import { bad, CHECKS, good, NONE, type Check, type CheckName } from './check.js';

/** Exit codes of a job whose agent has not come up, or was lost. */
const OF_AGENTS: readonly number[] = [EXIT.launch, EXIT.launchTimeout, EXIT.agentLost, EXIT.protocol];

const NOTHING_KNOWN = Object.fromEntries(CHECKS.map((name) => [name, NONE])) as Record<CheckName, Check>;

/** Rejects with StciError for what is wrong before anything is started. */
export async function checkLaunch(
  { name, user }: HostSpec, options: LaunchesToCheck['options'], deadlineMs: number,
): Promise<HostReport> {
  const startMs = performance.now();
  const job = launch({
    ...options, program: 'true', np: 1, hosts: user === undefined ? name : `${user}@${name}`, session: 'none',
    output: 'discard', launchTimeoutMs: deadlineMs, timeoutMs: deadlineMs,
  });
  const { exitCode, report } = await job.result;
  const why = exitCode === EXIT.launchTimeout
    ? `no agent answered within ${deadlineMs} ms. Check the host, or allow more time: --timeout TIME.`
    : report?.cause?.message ?? `exit code ${exitCode}`;
  const found = exitCode === 0 ? { agent: good('ok'), program: good('ok') }
    : OF_AGENTS.includes(exitCode) ? { agent: bad('FAIL', why), program: NONE }
      : { agent: good('ok'), program: bad('FAIL', why) };
  return hostReport(name, performance.now() - startMs, { ...NOTHING_KNOWN, ...found });
}
