/**
 * Component `slurm` of framework `launcherproc`: the agents of an allocation, by one step of Slurm. The hosts need a
 * Node; the agent itself travels with the step and is kept there by its hash. See docs/slurm.md.
 */

import { accept, decline, defineComponent, launcherprocFramework, portRange } from '@stci/core/component';
import type { AgentWait, Facts, ParamValue } from '@stci/interface';
import { CONNECT_MS_MIN, type SlurmParams } from './command.js';
import { createSlurm } from './slurm.js';
import { hostsOf } from './words.js';

export { AgentSteps } from './agent-steps.js';
export { ask, badNodes, jobState } from './ask.js';
export { slurmProgram, srunCommand, type SlurmParams } from './command.js';
export { findCause, nodeError, stepError } from './diagnose.js';
export { askEnvironment, stepEnvironment } from './environment.js';
export { LineReader, type LabelledLine } from './lines.js';
export { nodeVerdict, type NodeVerdict } from './node-state.js';
export { optionsProblem, relativeFile } from './options.js';
export { createSlurm } from './slurm.js';
export { hostsOf, readLine, type SlurmLine } from './words.js';

export const launcherSlurm = defineComponent({
  framework: launcherprocFramework,
  name: 'slurm',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'The agents of an allocation by one step of Slurm; nothing but Node is needed on its hosts.',
  params: {
    client: {
      type: 'string',
      default: 'srun',
      aliases: ['launcher.slurm.client'],
      help: 'Slurm\'s srun: a name that is looked up in PATH, or a path. May be written launcher.slurm.client.',
    },
    options: {
      type: 'string',
      default: '',
      aliases: ['launcher.slurm.options'],
      help: 'Options for srun, separated by blanks, each with its value in one word, placed before ours: '
        + '`--qos=debug`. May be written launcher.slurm.options.',
    },
    node: {
      type: 'string',
      default: '',
      aliases: ['launcher.slurm.node'],
      help: 'Node on the hosts: a path, or a name in PATH there; empty: the first that is new enough in PATH, at the '
        + 'path of ours, or in the usual places. May be written launcher.slurm.node.',
    },
    connect: {
      type: 'duration',
      default: 15_000,
      min: CONNECT_MS_MIN,
      max: 3_600_000,
      aliases: ['launcher.slurm.connect'],
      help: 'How long nothing may be heard of a host of the step before the others are started without it, in whole '
        + 'seconds. May be written launcher.slurm.connect.',
    },
    interface: {
      type: 'list',
      default: [],
      aliases: ['launcher.slurm.interface'],
      help: 'Interfaces (names or addresses) at which the agents wait for each other; empty: all but loopback, that of '
        + 'the network of the launching host first. May be written launcher.slurm.interface.',
    },
    ports: {
      type: 'string',
      default: '',
      aliases: ['launcher.slurm.ports'],
      help: 'Ports at which the agents wait, `40000-40063`, where a firewall lets no others through; empty: any. '
        + 'May be written launcher.slurm.ports.',
    },
    name: {
      type: 'string',
      default: 'stci',
      aliases: ['launcher.slurm.name'],
      help: 'Name of the step, in squeue -s and sacct; not given, that of a single job\'s agents is `stci:PROGRAM`. '
        + 'May be written launcher.slurm.name.',
    },
  },
  query: ({ request: { hosts }, facts }) => {
    const { job, nodes } = allocationOf(facts);
    if (job === '') {
      return decline('this is no allocation of Slurm: SLURM_JOB_ID is not set. Get one with salloc or --alloc');
    }
    const foreign = hosts.find(({ name }) => !nodes.has(name));
    if (foreign !== undefined) return decline(`${foreign.name} is not of job ${job} (SLURM_JOB_NODELIST)`);
    return accept(60, `in job ${job} of Slurm`);
  },
  create: (deps, params) => createSlurm(deps, slurmParams(params)),
});

function allocationOf({ variables }: Facts): { readonly job: string; readonly nodes: ReadonlySet<string> } {
  const all = typeof variables === 'object' && !Array.isArray(variables)
    ? variables as Readonly<Record<string, string>> : {};
  const job = all['SLURM_JOB_ID'] ?? '';
  return { job, nodes: new Set(job === '' ? [] : hostsOf(all['SLURM_JOB_NODELIST'] ?? '')) };
}

/** Options from the values of the component's parameters. */
export function slurmParams(params: Readonly<Record<string, ParamValue>>): SlurmParams {
  return {
    client: params['client'] as string,
    options: (params['options'] as string).split(/\s+/).filter((word) => word !== ''),
    node: params['node'] as string,
    listen: { interfaces: params['interface'] as readonly string[], ...portsOf(params['ports'] as string) },
    name: params['name'] as string,
    connectMs: params['connect'] as number,
  };
}

function portsOf(text: string): Pick<AgentWait, 'ports'> {
  const ports = portRange(text);
  return ports === undefined ? {} : { ports };
}
