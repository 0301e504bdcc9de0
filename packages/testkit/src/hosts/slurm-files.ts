/**
 * Slurm's configuration for a set of test hosts, bound over /etc/slurm in the set's mount namespaces: programs find it
 * where they always look, and no SLURM_CONF in the environment is needed.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { patient } from '@stci/compliance/patience';
import type { Machine } from './machine.js';
import { LOGIN, addressOf, hostNames, placesOf } from './names.js';
import type { Places } from './names.js';
import { reachedHosts } from './network.js';
import { CPUS_DEFAULT } from './slurm-options.js';
import type { SetState } from './state.js';

const CGROUPS_DISABLED_SINCE = 23.11;
/**
 * A node that does not answer for so long is down, as on a busy machine; and one that was set down is asked to register
 * within a third of it, and up again.
 */
const SLURMD_TIMEOUT_S = Math.ceil(patient(10));

/** Files of Slurm in a set. */
export interface SlurmPlaces {
  readonly root: string;
  /** Bound over /etc/slurm. */
  readonly etc: string;
  /** Sourced by the keeper. */
  readonly mounts: string;
  readonly mungeKey: string;
  readonly mungeSocket: string;
  log(daemon: 'slurmctld' | 'munged'): string;
}

export function slurmPlaces({ root: setRoot }: Places): SlurmPlaces {
  const root = join(setRoot, 'slurm');
  return {
    root,
    etc: join(root, 'etc'),
    mounts: join(root, 'mounts.sh'),
    mungeKey: join(root, 'munge/key'),
    mungeSocket: join(root, 'munge/socket'),
    log: (daemon) => join(root, `${daemon}.log`),
  };
}

export function writeSlurm(state: SetState, { slurmVersion }: Machine): void {
  if (state.slurm === undefined) return;
  const places = placesOf(state.set);
  const slurm = slurmPlaces(places);
  for (const name of ['etc', 'munge', 'state', 'spool']) mkdirSync(join(slurm.root, name), { recursive: true });
  for (const host of hostNames(state.size)) mkdirSync(join(slurm.root, 'spool', host));
  writeFileSync(slurm.mungeKey, randomBytes(128), { mode: 0o600 });
  const lines = withOverrides(configuration(state, places), state.slurm.conf ?? []);
  writeFileSync(join(slurm.etc, 'slurm.conf'), `${lines.join('\n')}\n`);
  // slurmd ends at once where it can't write to the machine's cgroups. Older ones do not know `disabled`.
  const plugin = slurmVersion >= CGROUPS_DISABLED_SINCE ? 'disabled' : 'cgroup/v1';
  writeFileSync(join(slurm.etc, 'cgroup.conf'), `CgroupPlugin=${plugin}\n`);
  writeFileSync(slurm.mounts, mounts(slurm, state.slurm.root).map((line) => `${line} || exit 1\n`).join(''));
}

/** Mounts in the namespace of all hosts. This node stays at its path, also if that is below /usr. */
function mounts({ etc }: SlurmPlaces, root: string | undefined): string[] {
  const configured = `mount --bind ${etc} /etc/slurm`;
  if (root === undefined) return [configured];
  const node = process.execPath;
  const keepNode = [`mkdir -p ${root}${dirname(node)}`, `touch ${root}${node}`, `mount --bind ${node} ${root}${node}`];
  return [
    configured, `mount --rbind /usr/local ${root}/usr/local`,
    ...(/^\/usr\/(?!local\/)/.test(node) ? keepNode : []),
    `mount --rbind ${root}/usr /usr`,
    // What follows from the packages of that root.
    ...['alternatives', 'ld.so.cache'].map((name) => `mount --bind ${root}/etc/${name} /etc/${name}`),
  ];
}

/** Deadlines are short, so that tests of failures are. Nothing is accounted but jobs at their end (`sacct -c`). */
function configuration(state: SetState, places: Places): string[] {
  const { set, subnet, size, slurm } = state;
  const { root, mungeSocket, log } = slurmPlaces(places);
  const reached = reachedHosts(state);
  const nodes = hostNames(size).map((host) => [
    `NodeName=${host} NodeAddr=${addressOf(subnet, host)} CPUs=${slurm?.cpus ?? CPUS_DEFAULT}`,
    reached.includes(host) ? 'State=UNKNOWN' : 'State=DOWN Reason=unreached',
  ].join(' '));
  return [
    `ClusterName=${set}`, `SlurmctldHost=${LOGIN}(${addressOf(subnet, LOGIN)})`,
    'AuthType=auth/munge', `AuthInfo=socket=${mungeSocket}`, 'SlurmUser=root', 'SlurmdUser=root',
    `StateSaveLocation=${root}/state`, `SlurmdSpoolDir=${root}/spool/%n`,
    `SlurmctldPidFile=${root}/slurmctld.pid`, `SlurmdPidFile=${places.of('%n')}/slurmd.pid`,
    `SlurmctldLogFile=${log('slurmctld')}`, `SlurmdLogFile=${places.of('%n')}/slurmd.log`,
    'ProctrackType=proctrack/linuxproc', 'TaskPlugin=task/none', 'JobAcctGatherType=jobacct_gather/none',
    'AccountingStorageType=accounting_storage/none', 'JobCompType=jobcomp/filetxt', `JobCompLoc=${root}/jobs`,
    'SelectType=select/cons_tres', 'SelectTypeParameters=CR_CPU', 'SlurmdParameters=config_overrides',
    'MpiDefault=none', 'ReturnToService=2', 'PreemptType=preempt/partition_prio', 'PreemptMode=CANCEL',
    `SlurmdTimeout=${SLURMD_TIMEOUT_S}`, 'MessageTimeout=10', 'KillWait=5',
    'SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1',
    ...nodes,
    'PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=5',
    'PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF',
  ];
}

/** The key of a line; nodes and partitions have one line each. */
function keyOf(line: string): string {
  return (/^(?:NodeName|PartitionName)=\S+/i.exec(line)?.[0] ?? line.split('=')[0] ?? '').toLowerCase();
}

function withOverrides(lines: readonly string[], overrides: readonly string[]): string[] {
  const replaced = new Set(overrides.map(keyOf));
  return [...lines.filter((line) => !replaced.has(keyOf(line))), ...overrides];
}
