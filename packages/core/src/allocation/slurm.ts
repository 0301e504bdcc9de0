/**
 * Component `slurm` of framework `allocation`: the hosts of the Slurm job in which the caller runs (salloc, sbatch), as
 * its variables tell (salloc(1), sbatch(1), "OUTPUT ENVIRONMENT VARIABLES").
 *
 * The hosts are those of SLURM_JOB_NODELIST. Slots are a bound: SLURM_TASKS_PER_NODE; where it is that of a step,
 * SLURM_NTASKS_PER_NODE; where neither tells, as in a job that was resized, the processors of SLURM_JOB_CPUS_PER_NODE,
 * or SLURM_CPUS_ON_NODE, by SLURM_CPUS_PER_TASK. That variables are of a job that has ended cannot be seen here: Slurm
 * tells when it is asked.
 */

import { StciError, accept, builtinComponent, decline, caught } from '@stci/interface';
import type { HostSpec } from '@stci/interface';
import { counted, quote } from '@stci/registry';
import { SLOTS_MAX, expandHostlist } from '../job/hostlist.js';
import { allocationFramework } from './framework.js';

type Variables = Readonly<Record<string, string>>;

const JOB = 'SLURM_JOB_ID';
const NODES = 'SLURM_JOB_NODELIST';
const TASKS = 'SLURM_TASKS_PER_NODE';
const TASKS_EACH = 'SLURM_NTASKS_PER_NODE';
const CPUS = 'SLURM_JOB_CPUS_PER_NODE';
const CPUS_HERE = 'SLURM_CPUS_ON_NODE';
const CPUS_PER_TASK = 'SLURM_CPUS_PER_TASK';
const STEP_TASKS = 'SLURM_STEP_TASKS_PER_NODE';

const REMEDY = "If these variables are of another job, run 'unset SLURM_JOB_ID'. To do without Slurm: "
  + '--mca allocation=given with --host, or --mca allocation=machine.';

export const allocationSlurm = builtinComponent({
  framework: allocationFramework,
  name: 'slurm',
  help: 'Inside of a Slurm job: its hosts.',
  query: ({ facts }) => {
    const variables = (facts['variables'] ?? {}) as Variables;
    const job = variables[JOB] ?? '';
    if (job === '') return decline(`not in a Slurm job: ${JOB} is not set`);
    return accept(80, reasonOf(job, variables));
  },
  create: ({ variables }) => ({
    place: `in Slurm job ${variables[JOB] ?? ''}`,
    takesNames: false,
    hosts: () => slurmHosts(variables).hosts,
  }),
});

function reasonOf(job: string, variables: Variables): string {
  return caught(() => {
    const { hosts, slotsOf } = slurmHosts(variables);
    const slots = slotsOf === undefined ? '' : `, their slots of ${slotsOf}`;
    return `Slurm job ${job}: ${counted(hosts.length, 'host')} of ${NODES}${slots}`;
  }, ({ message }) => `Slurm job ${job}, whose hosts cannot be read: ${message.split('\n', 1)[0] as string}`);
}

interface SlurmHosts {
  readonly hosts: readonly HostSpec[];
  /** The variable that the slots are from; undefined where none tells. */
  readonly slotsOf: string | undefined;
}

/** Throws STCI_ALLOCATION_INVALID, with the variable and what was expected of it. */
export function slurmHosts(variables: Variables): SlurmHosts {
  refuseKind(variables);
  const names = namesOf(variables);
  const { slots, slotsOf } = slotsPerHost(variables, names.length);
  const bound = { slotsBound: slotsOf !== undefined, origin: slotsOf === undefined ? NODES : `${NODES}, ${slotsOf}` };
  return { hosts: names.map((name, i) => ({ name, slots: slots[i] ?? 1, ...bound })), slotsOf };
}

/** Jobs of which no single list of hosts can be had, and tasks that are many. */
function refuseKind(variables: Variables): void {
  const size = variables['SLURM_HET_SIZE'];
  if (size !== undefined) {
    throw invalid(`SLURM_HET_SIZE is ${quote(size)}: the Slurm job is heterogeneous, of several components, and agents `
      + 'are started by one step. Ask for a job of one component', 'To use its hosts nevertheless: --launcher ssh '
      + '--mca allocation=given, and --host for SLURM_JOB_NODELIST_HET_GROUP_0 and the others.');
  }
  const tasks = Number(variables['SLURM_STEP_NUM_TASKS'] ?? 1);
  if (tasks > 1) {
    throw invalid(`SLURM_STEP_NUM_TASKS is ${tasks}: this is one of ${tasks} tasks that srun started, and each would `
      + 'start the whole job. Start it once, without srun or by srun -n 1');
  }
}

function namesOf(variables: Variables): readonly string[] {
  const list = variables[NODES] ?? '';
  if (list.trim() === '') {
    const is = variables[NODES] === undefined ? 'is not set' : 'is empty';
    throw invalid(`${JOB} is set, but ${NODES} ${is}: expected the hosts of the job, such as n[01-16,20]`);
  }
  const items = expand(list);
  const odd = items.find(({ user, slots }) => user !== undefined || slots !== undefined);
  if (odd !== undefined) throw invalid(`${NODES}: expected names of hosts alone, got ${quote(list)}`);
  const names = items.map(({ name }) => name);
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw invalid(`${NODES}: expected each host once, but ${name} is named again`);
    seen.add(name);
  }
  const count = variables['SLURM_JOB_NUM_NODES'];
  if (count !== undefined && count !== String(names.length)) {
    throw invalid(`SLURM_JOB_NUM_NODES is ${quote(count)}, but ${NODES} names ${counted(names.length, 'host')}. `
      + `If the job was resized, source the script that scontrol wrote, slurm_job_${variables[JOB] ?? ''}_resize.sh`);
  }
  return names;
}

function expand(list: string): ReturnType<typeof expandHostlist> {
  return caught(() => expandHostlist(list, { name: NODES, code: 'STCI_ALLOCATION_INVALID' }), ({ message }) => {
    throw new StciError('STCI_ALLOCATION_INVALID', `${message}\n${REMEDY}`);
  });
}

interface Slots {
  /** A number for each host; fewer: the rest has one. */
  readonly slots: readonly number[];
  readonly slotsOf: string | undefined;
}

function slotsPerHost(variables: Variables, hosts: number): Slots {
  const tasks = variables[TASKS];
  // srun puts that of its step in the place of the job's.
  const isOfStep = tasks !== undefined && tasks === variables[STEP_TASKS];
  const each = variables[TASKS_EACH];
  if (isOfStep && each !== undefined) {
    return { slots: new Array<number>(hosts).fill(positive(TASKS_EACH, each)), slotsOf: TASKS_EACH };
  }
  if (tasks !== undefined) {
    const slots = countsOf(TASKS, tasks, hosts);
    if (slots !== undefined) return { slots, slotsOf: TASKS };
    if (!isOfStep) throw disagrees(TASKS, tasks, hosts);
  }
  const perTask = positive(CPUS_PER_TASK, variables[CPUS_PER_TASK] ?? '1');
  const ranksOn = (cpus: number): number => Math.max(1, Math.floor(cpus / perTask));
  const cpus = variables[CPUS];
  if (cpus !== undefined) {
    const counts = countsOf(CPUS, cpus, hosts);
    if (counts === undefined) throw disagrees(CPUS, cpus, hosts);
    return { slots: counts.map(ranksOn), slotsOf: CPUS };
  }
  const here = variables[CPUS_HERE];
  if (here === undefined) return { slots: [], slotsOf: undefined };
  return { slots: new Array<number>(hosts).fill(ranksOn(positive(CPUS_HERE, here))), slotsOf: CPUS_HERE };
}

/** `2(x3),1`: numbers and how often, one for each host; undefined: for another number of hosts. */
function countsOf(variable: string, text: string, hosts: number): readonly number[] | undefined {
  const counts: number[] = [];
  for (const item of text.split(',')) {
    const [, count, times = '1'] = /^(\d{1,9})(?:\(x(\d{1,9})\))?$/.exec(item) ?? [];
    const isGood = count !== undefined && Number(count) >= 1 && Number(count) <= SLOTS_MAX && Number(times) >= 1;
    if (!isGood) {
      const numbers = `numbers in 1..${SLOTS_MAX} and how often, such as 8(x3),4`;
      throw invalid(`${variable}: expected ${numbers}, got ${quote(item)} in ${quote(text)}`);
    }
    if (counts.length + Number(times) > hosts) return undefined;
    for (let i = 0; i < Number(times); i += 1) counts.push(Number(count));
  }
  return counts.length === hosts ? counts : undefined;
}

function disagrees(variable: string, text: string, hosts: number): StciError {
  return invalid(`${variable} is ${quote(text)}, but ${NODES} names ${counted(hosts, 'host')}: expected a number for `
    + 'each, as in 8(x3),4');
}

function positive(variable: string, text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= SLOTS_MAX) return number;
  throw invalid(`${variable}: expected a number in 1..${SLOTS_MAX}, got ${quote(text)}`);
}

function invalid(text: string, remedy = REMEDY): StciError {
  return new StciError('STCI_ALLOCATION_INVALID', `${text}. ${remedy}`);
}
