/** `stci doctor`: can agents be started on these hosts, and if not, what is to be done. */

import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { didYouMean, THIS_MACHINE } from '@stci/core';
import { allocationFramework, machineHost } from '@stci/core/allocation';
import { EXIT, StciError, type HostSpec, type Params } from '@stci/interface';
import { slurmParams } from '@stci/launcher-slurm';
import { sshParams } from '@stci/launcher-ssh';
import { createNodePlatform } from '@stci/platform-node';
import { AGENT_BUNDLE } from '../agent/agent-files.js';
import { parseDuration } from '../cli/values.js';
import type { AllocationChecks, AllocationParams } from '../doctor/check-allocation.js';
import { checkHost, type DoctorParams, type HostReport } from '../doctor/check-host.js';
import { checkMpi } from '../doctor/check-mpi.js';
import { doctorJson, doctorText } from '../doctor/render.js';
import type { AllocationReport } from '../doctor/slurm-report.js';
import { inWindow } from '../doctor/window.js';
import { printOut } from '../process/print.js';
import { allocateHosts, hostPlace, type HostPlace } from '../run/allocate-hosts.js';
import { callerDirectory } from '../files/caller-directory.js';
import type { Settings } from '../settings/settings.js';
import { loadFlagParams, commonFlags, paramFlags, StciCommand } from './base.js';

const duration = Flags.custom<number>({ parse: async (text) => parseDuration('--timeout', text) });

const DEADLINE_MS = 15_000;

export class DoctorCommand extends StciCommand {
  static override readonly summary = 'checks hosts: name, port, login, node, clock, free ports, cache, leftovers, MPI';
  static override readonly synopsis = '[--host LIST]... [--launcher NAME] [--plugin PATH]... [--clean] [PROGRAM]';
  static override readonly page = 'cli.md#stci-doctor';
  static override readonly details = `
Exit code: 0 if every host is usable, else ${EXIT.launch}.

Examples:
  stci doctor --hostfile hosts
  stci doctor --clean --host 'n[01-04]'
  stci doctor --host a,b ./mpi_program
  stci doctor --plugin ./my-launcher --launcher mylauncher --host a,b
  stci doctor --host 'n[01-64]' --mca bootcom.ws.ports=40000-40100
`;

  static override args = {
    program: Args.string({
      ignoreStdin: true, description: 'one whose MPI library is looked for on each host: which, and the same on all',
    }),
  };

  static override flags = {
    host: commonFlags.host,
    hostfile: commonFlags.hostfile,
    exclude: commonFlags.exclude,
    launcher: Flags.string({
      helpValue: 'NAME',
      description: 'ssh: by a login, as jobs are started there; slurm: by a step of the Slurm job in which this runs, '
        + 'its default there; local: this machine alone; that of a plugin: by an agent that it starts on each host',
    }),
    timeout: duration({
      default: DEADLINE_MS, helpValue: 'TIME', description: 'for each host, such as 30s (default 15s)',
    }),
    clean: Flags.boolean({
      description: 'end what earlier runs of yours left there, and list it; running jobs are spared',
    }),
    json: commonFlags.json,
    plugin: commonFlags.plugin,
    ...paramFlags,
  };

  async run(): Promise<number> {
    const { args: { program }, flags } = await this.parse(DoctorCommand);
    const wdir = callerDirectory();
    const settings = await loadFlagParams(flags, wdir);
    const { params } = settings;
    const named = [...(flags.host ?? []), ...(flags.hostfile ?? [])];
    if (flags.launcher === 'local' && named.length > 0) {
      throw new StciError('STCI_USAGE', '--launcher local checks this machine alone: leave --host and --hostfile out.');
    }
    const place = hostPlace(settings, createNodePlatform(), wdir);
    const other = otherLauncher(flags.launcher, settings, () => allocateHosts(flags, place));
    if (other !== undefined) return this.#checkLaunches(other, allocateHosts(flags, place), { ...flags, program });
    const job = flags.launcher === 'local' ? undefined : slurmJob(place);
    if (flags.launcher === 'slurm' && job === undefined) {
      const text = '--launcher slurm checks the hosts of the Slurm job in which it runs, and this is in none.';
      throw new StciError('STCI_USAGE', `${text} Run it by salloc or sbatch, or leave --launcher out.`);
    }
    const hosts = flags.launcher === 'local' ? [machineHost(place.env)] : allocateHosts(flags, place);
    const isHere = hosts.every(({ origin }) => origin === THIS_MACHINE);
    const isLocal = flags.launcher === 'local' || (flags.launcher === undefined && isHere);
    const byLogin = job === undefined ? !isLocal : flags.launcher === 'ssh';
    const checked = {
      ssh: byLogin ? sshParams(params.under('launcherproc.ssh')) : undefined,
      ports: portsOf(params),
      clean: flags.clean,
      bundleBytes: statSync(join(this.config.root, AGENT_BUNDLE)).size,
      deadlineMs: flags.timeout,
      asked: program === undefined ? undefined : askedProgram(program, place.env.variables, wdir ?? '/'),
    };
    const { reports, allocation }: Partial<AllocationChecks> & Pick<AllocationChecks, 'reports'> = job === undefined
      ? { reports: await checkAll(hosts, checked) } : await checkSlurm(hosts, {
        ...checked, ...job, slurm: slurmParams(params.under('launcherproc.slurm')),
      });
    return printReports(program === undefined ? reports : checkMpi(reports, program), flags.json, allocation);
  }

  /** By a launcherproc of which nothing more is known than its contract. */
  async #checkLaunches(
    launcher: string, hosts: readonly HostSpec[],
    { clean, json, timeout, program, plugin = [], mca = [], am = [] }: LaunchFlags,
  ): Promise<number> {
    if (clean) throw new StciError('STCI_USAGE', `--clean is not known of launcher ${launcher}. Leave it out.`);
    if (program !== undefined) {
      const text = `${program}: launcher ${launcher} cannot look for its MPI library. Leave it out.`;
      throw new StciError('STCI_USAGE', text);
    }
    const { checkLaunches } = await import('../doctor/check-launches.js');
    const options = {
      launcher, plugins: plugin, paramFiles: am, params: Object.fromEntries(mca.map(({ key, value }) => [key, value])),
    };
    // Programs are in dist/bundle of the package.
    const root = dirname(dirname(this.config.root));
    return printReports(await checkLaunches(root, { hosts, options, deadlineMs: timeout }), json);
  }
}

interface LaunchFlags {
  readonly clean: boolean;
  readonly json: boolean;
  readonly timeout: number;
  readonly program: string | undefined;
  readonly plugin?: readonly string[] | undefined;
  readonly mca?: readonly { readonly key: string; readonly value: string }[] | undefined;
  readonly am?: readonly string[] | undefined;
}

function printReports(reports: readonly HostReport[], json: boolean, allocation?: AllocationReport): number {
  printOut(json ? doctorJson(reports, allocation) : doctorText(reports, allocation));
  return reports.every(({ usable }) => usable) && allocation?.usable !== false ? 0 : EXIT.launch;
}

/** Bound on the lists of directories that a host is sent. */
const PATH_CHARS_MAX = 16_384;

/** As ranks would find it: by the variables of here, which programs get, and from this directory. */
function askedProgram(
  program: string, { PATH = '', LD_LIBRARY_PATH = '' }: Readonly<Record<string, string>>, wdir: string,
): DoctorParams['asked'] {
  const [path, libraries] = [PATH, LD_LIBRARY_PATH].map((list) => list.slice(0, PATH_CHARS_MAX)) as [string, string];
  return { program, wdir, path, libraries };
}

/** Launchers of which more is looked at than whether an agent can be started. */
const KNOWN = ['ssh', 'slurm', 'local'];

/** The launcherproc by which agents are started, if it is none of those: named, or the best for the hosts. */
function otherLauncher(
  named: string | undefined, { registry, plugins, params, composition }: Settings, hosts: () => readonly HostSpec[],
): string | undefined {
  const names = registry.components('launcherproc').map(({ name }) => name);
  if (named !== undefined && !names.includes(named)) {
    const near = didYouMean(named, names);
    throw new StciError('STCI_USAGE', `--launcher ${named}: there are ${names.join(', ')}.${near}`);
  }
  if (named === undefined && plugins.length === 0) return undefined;
  const name = named ?? composition.scope('stci', params, createNodePlatform()).launchMethod(hosts());
  return KNOWN.includes(name) ? undefined : name;
}

/** The Slurm job that the hosts are of; undefined: they are of none. */
function slurmJob({ env: { variables }, selector }: HostPlace): Pick<AllocationParams, 'job' | 'nodelist'> | undefined {
  const { SLURM_JOB_ID: job, SLURM_JOB_NODELIST: nodelist = '' } = variables;
  if (job === undefined) return undefined;
  const source = selector.one(allocationFramework, { hosts: [], hostfiles: [] }).component.name;
  return source === 'slurm' ? { job, nodelist } : undefined;
}

/** Loaded where it is used: most runs are in no job. */
async function checkSlurm(hosts: readonly HostSpec[], params: AllocationParams): Promise<AllocationChecks> {
  const { checkAllocation } = await import('../doctor/check-allocation.js');
  return checkAllocation(hosts, params, checkAll);
}

function portsOf(params: Params): DoctorParams['ports'] {
  const [low, high] = params.string('bootcom.ws.ports').split('-').map(Number);
  return low === undefined || high === undefined ? undefined : [low, high];
}

function checkAll(hosts: readonly HostSpec[], params: DoctorParams): Promise<HostReport[]> {
  return inWindow(hosts, (host) => checkHost(host, params));
}
