/**
 * Whether this machine can run test hosts, and if not, why. Tests call `whyNoHosts()` and are skipped with its result;
 * commands print it.
 */

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram } from './exec.js';
import type { Argv } from './exec.js';
import { HostsError } from './names.js';
import { asHostUser, isRoot } from './privilege.js';
import type { SlurmOptions } from './slurm-options.js';

/** Facts for the hosts' files. */
export interface Machine {
  readonly sshd: string;
  /** OpenSSH 9.8 and later penalize an address for failed logins; all hosts here share one address. */
  readonly penalizesClients: boolean;
  /** Directories that contain a `node`, with links resolved. */
  readonly nodeDirectories: readonly string[];
  /** As 22.05; 0 if the hosts are without Slurm. */
  readonly slurmVersion: number;
}

/** Command → Debian's package. */
const NEEDED = {
  ip: 'iproute2', sshd: 'openssh-server', ssh: 'openssh-client', unshare: 'util-linux', nsenter: 'util-linux',
  flock: 'util-linux', mount: 'mount', bash: 'bash', hostname: 'hostname',
} as const;

const NEEDED_BY_SLURM = {
  slurmctld: 'slurm-wlm', slurmd: 'slurm-wlm', srun: 'slurm-wlm', sinfo: 'slurm-wlm', munged: 'munge',
} as const;

const NAMESPACES_DEADLINE_MS = 10_000;

const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** undefined if test hosts can be made; else what is missing and what to do. */
export function whyNoHosts(): string | undefined {
  if (process.platform !== 'linux') return `test hosts need Linux, this is ${process.platform}`;
  return whyMissing('test hosts', NEEDED) ?? whyNoNamespaces();
}

/** undefined if test hosts can have Slurm; else what is missing and what to do. */
export function whyNoSlurm(): string | undefined {
  const why = whyNoHosts() ?? whyMissing('test hosts with Slurm', NEEDED_BY_SLURM);
  if (why !== undefined || isRoot) return why;
  return 'test hosts with Slurm need root: slurmd changes to the ids of who submits; use sudo';
}

function whyMissing(what: string, needed: Readonly<Record<string, string>>): string | undefined {
  const missing = Object.entries(needed).filter(([command]) => find(command) === undefined);
  if (missing.length === 0) return undefined;
  const packages = [...new Set(missing.map(([, name]) => name))].join(' ');
  return `${what} need ${missing.map(([command]) => command).join(', ')}: apt-get install ${packages}`;
}

/** Checked once: makes the namespaces of a host as this user. */
function whyNoNamespaces(): string | undefined {
  refusal ??= tryNamespaces();
  return refusal === '' ? undefined : refusal;
}

let refusal: string | undefined;

function tryNamespaces(): string {
  const user = isRoot ? [] : ['--user', '--map-root-user'];
  const host = ['--mount', '--uts', '--ipc', '--net', '--pid', '--fork', '--mount-proc', '--'];
  const { status, stderr, error } = spawnSync('unshare', [...user, ...host, ...asHostUser(), 'true'], {
    encoding: 'utf8', timeout: NAMESPACES_DEADLINE_MS,
  });
  if (status === 0) return '';
  const advice = isRoot ? 'a container needs CAP_SYS_ADMIN for them' : 'use sudo, or allow user namespaces';
  return `test hosts need namespaces (${error?.message ?? stderr.trim()}): ${advice}`;
}

/** Throws a HostsError with whyNoHosts(). */
export function checkCanMakeHosts(): void {
  const why = whyNoHosts();
  if (why !== undefined) throw new HostsError(why);
}

/** Throws a HostsError with whyNoSlurm(). */
export function checkCanRunSlurm(): void {
  const why = whyNoSlurm();
  if (why !== undefined) throw new HostsError(why);
}

/** Inspects the machine; with `root`, the programs are those of another Debian's root. */
export async function inspectMachine(slurm: SlurmOptions | undefined): Promise<Machine> {
  const inRoot = (...argv: Argv): Argv => (slurm?.root === undefined ? argv : ['chroot', slurm.root, ...argv]);
  const { stderr } = await runProgram(inRoot('ssh', '-V'));
  const said = slurm && (await runProgram(inRoot('/usr/sbin/slurmd', '-V'))).stdout;
  const [, major = 0, minor = 0] = (/OpenSSH_(\d+)\.(\d+)/.exec(stderr) ?? []).map(Number);
  const nodes = [dirname(process.execPath), ...directories()].filter((each) => existsSync(join(each, 'node')));
  const followed = nodes.flatMap((each) => [realpathSync(each), dirname(realpathSync(join(each, 'node')))]);
  return {
    sshd: find('sshd') ?? '/usr/sbin/sshd',
    penalizesClients: major > 9 || (major === 9 && minor >= 8),
    nodeDirectories: [...new Set(followed)],
    slurmVersion: Number(/(\d+\.\d+)/.exec(said ?? '')?.[1] ?? 0),
  };
}

function find(command: string): string | undefined {
  return directories().map((directory) => join(directory, command)).find(isExecutable);
}

/** PATH may lack the sbin directories. */
function directories(): string[] {
  const all = [...(process.env['PATH'] ?? '').split(':'), ...SYSTEM_PATH];
  return [...new Set(all)].filter((each) => each.startsWith('/'));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
