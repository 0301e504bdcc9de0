/**
 * srun's command line. Whatever could be configured otherwise, in slurm.conf or by variables, is said: one task a host,
 * beside other steps and with all that the job has there; nothing ends the step but its agents.
 */

import { SHELL_TEXT, escapedText, printfText, shellText, waitProgram } from '@stci/host-program';
import { foldHostlist } from '@stci/core/component';
import { assert, type AgentBundle, type AgentWait } from '@stci/interface';

export interface SlurmParams {
  /** Program and options of the user, before ours: of an option that is given twice, srun uses the last. */
  readonly client: string;
  readonly options: readonly string[];
  /** Path or name of node on the hosts; empty: find one. */
  readonly node: string;
  /** Where the agents listen; no interfaces: at all but loopback. */
  readonly listen: Pick<AgentWait, 'interfaces' | 'ports'>;
  /** Of the step. */
  readonly name: string;
  /** How long nothing may be heard of a host, ms. */
  readonly connectMs: number;
}

export interface StepStart {
  /** Names in Slurm. */
  readonly hosts: readonly string[];
  readonly nonce: string;
  readonly bundle: Pick<AgentBundle, 'hash' | 'bytes' | 'node' | 'holder'>;
  readonly waitMs: number;
  /** A program of `hostProgram` to run instead of the agent. */
  readonly program?: string;
}

/** Least time of silence; whole seconds, as those of srun. */
export const CONNECT_MS_MIN = 2000;

/** How long srun may wait for the step's hosts: what it says after that is to be heard before the silence counts. */
function immediateSeconds(connectMs: number): number {
  return Math.floor(connectMs * 2 / 3000);
}

assert(immediateSeconds(CONNECT_MS_MIN) >= 1, 'srun takes whole seconds');
assert(immediateSeconds(CONNECT_MS_MIN) * 1000 < CONNECT_MS_MIN, 'Slurm refuses before its silence counts');

/** A path that no shell interprets. */
const PLAIN_PATH = /^\/[A-Za-z0-9_./+@%,=-]*$/;

/** The step's tasks say who they are before anything else; the rest is as for one host. */
const TASK_TEXT = `echo "STCI $4 host $SLURMD_NODENAME $SLURM_JOB_ID.$SLURM_STEP_ID"; ${SHELL_TEXT}`;

/** The whole command line. It contains no secret: any user of these machines can read it. */
export function srunCommand(params: SlurmParams, start: StepStart): readonly [string, ...string[]] {
  const { hosts, nonce, bundle, waitMs, program = waitProgram(params.listen) } = start;
  const count = String(hosts.length);
  const ownNode = PLAIN_PATH.test(bundle.node) ? bundle.node : '';
  return [
    params.client,
    ...params.options,
    '--overlap', // Takes no processors from other steps.
    '--mpi=none', // MpiDefault may set up something that has to be paid for.
    '--no-kill', // A lost host is the error manager's business.
    '--kill-on-bad-exit=0', '--wait=0', // … and so is an agent that ends.
    '--cpu-bind=none', '--mem-bind=none', // Tools run within.
    '--mem=0', // All that the job has.
    '--label', '--input=all',
    `--immediate=${immediateSeconds(params.connectMs)}`, // A step that gets no hosts is told, and not waited for.
    '--chdir=/', '--export=ALL',
    '-N', count, '-n', count, '--ntasks-per-node=1', `--nodelist=${foldHostlist(hosts)}`,
    `--job-name=${params.name}`,
    '/bin/sh', '-c', TASK_TEXT, 'stci-guardian',
    printfText(shellText(bundle.holder)), program, 'utf8', nonce, bundle.hash, String(bundle.bytes.length),
    ownNode, escapedText(params.node), String(waitMs),
  ];
}

/** Slurm's other programs: beside srun, if that is given by a path. */
export function slurmProgram(client: string, name: string): string {
  const slash = client.lastIndexOf('/');
  return slash < 0 ? name : client.slice(0, slash + 1) + name;
}
