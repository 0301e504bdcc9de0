/**
 * The shell scripts that start hosts. A keeper process per start holds the shared mounts and is the parent of the
 * hosts' processes; each host's script makes the host's own mounts and becomes sshd, the first process of the host's
 * process tree: when it is killed, the kernel ends all others. All mounts are in separate mount namespaces.
 */

import type { Machine } from './machine.js';
import { NETNS_DIRECTORY } from './names.js';
import { BOUND_FILES } from './etc.js';
import { HOLDER, asHostUser, isRoot } from './privilege.js';
import type { Places } from './names.js';
import { hasOwnHome } from './traits.js';
import type { Traits } from './traits.js';

const FULL_HOME_KBYTES = 256;

/** Daemons close inherited descriptors: they would keep the caller's pipes and locks open. */
export const CLOSE_INHERITED = `
for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  if [ "$fd" -gt 2 ] && [ "$fd" -ne 255 ]; then eval "exec $fd>&-"; fi
done 2>/dev/null
`;

/**
 * Run by bash in new user and mount namespaces, with the set and its directory: keeps both, and the future names of
 * network namespaces, which `ip` expects below /run.
 */
export const HOLD = `
set=$1 root=$2
${CLOSE_INHERITED}
mount -t tmpfs -o mode=755,size=1m stci /run && mkdir ${NETNS_DIRECTORY} || exit 1
ln -s "/proc/$$/root${NETNS_DIRECTORY}" "$root/netns" && ln -s "/proc/$$" "$root/${HOLDER}" || exit 1
exec -a "stci-hosts:$set" sleep infinity
`;

/** Root's set is below /run, which may be mounted noexec. */
const MAKE_EXECUTABLE = 'mount --bind "$root" "$root" && mount -o remount,bind,exec,suid "$root" || exit 1';

/** Run by bash with the set, its directory and the names of what to start. */
export const KEEPER = `
set=$1 root=$2; shift 2
${CLOSE_INHERITED}
${isRoot ? MAKE_EXECUTABLE : ''}
for file in ${BOUND_FILES.join(' ')}; do mount --bind "$root/etc/$file" "/etc/$file" || exit 1; done
if [ -f "$root/slurm/mounts.sh" ]; then . "$root/slurm/mounts.sh"; fi
for place in "$@"; do
  log=$root/hosts/$place/log
  if [ "$place" = login ]; then
    unshare --mount --uts -- /bin/sh "$root/hosts/login/init.sh" </dev/null >>"$log" 2>&1 &
  else
    nsenter --net="${NETNS_DIRECTORY}/stci-$set-$place" \\
      unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc -- \\
      /bin/sh "$root/hosts/$place/init.sh" </dev/null >>"$log" 2>&1 &
  fi
done
wait
`;

export interface HostScript {
  readonly places: Places;
  readonly host: string;
  readonly traits: Traits;
  readonly machine: Machine;
  readonly ownPasswd: boolean;
  readonly slurm: boolean;
}

/** Creates `ready` when the host can be used, or `failed` when an earlier step failed. */
export function hostScript({ places, host, traits, machine, ownPasswd, slurm }: HostScript): string {
  const at = places.of(host);
  const { names } = traits;
  return script(at, host, [
    ...(ownPasswd ? [`mount --bind ${at}/passwd /etc/passwd`] : []),
    ...homeSteps(places, host, traits),
    // Slurm's steps have the HOME of who started them.
    ...(slurm && hasOwnHome(traits) ? [`mount --rbind ${places.home} ${places.loginHome}`] : []),
    'mount -t tmpfs -o mode=1777 stci /dev/shm',
    ...(names.has('private-tmp') ? ['mount -t tmpfs -o mode=1777,size=256m stci /tmp'] : []),
    ...(names.has('no-node') || names.has('old-node') ? nodeSteps(at, machine, names.has('old-node')) : []),
    ...(isRoot ? ['mkdir -p /run/sshd'] : ['echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start']),
    ...(slurm ? ['/usr/sbin/slurmd'] : []),
    ['exec', ...asHostUser(), ...first(at, machine, names.has('no-sshd'))].join(' '),
  ]);
}

/** A host's first process, in the user namespace that all logins share. */
function first(at: string, { sshd }: Machine, isAlone: boolean): string[] {
  const alone = ['sh', '-c', `'echo 1 >${at}/ready; exec sleep infinity'`];
  return isAlone ? alone : [sshd, '-D', '-e', '-f', `${at}/sshd_config`];
}

export function loginScript(places: Places): string {
  const at = places.of('login');
  return script(at, 'login', [
    `mount --bind ${places.etc}/passwd-login /etc/passwd`,
    // With the start time, which stays the same over exec.
    `echo "$$ $(cut -d ' ' -f 22 /proc/$$/stat)" >${at}/ready.new`,
    `mv ${at}/ready.new ${at}/ready`,
    'exec sleep infinity',
  ]);
}

function script(at: string, hostname: string, steps: readonly string[]): string {
  return ['#!/bin/sh', 'set -e', `trap 'echo >${at}/failed' EXIT`, `hostname ${hostname}`,
    // The holder's /run was for the names of network namespaces; here the machine's is mounted.
    ...(isRoot ? [] : ['umount --lazy /run']),
    `ip -batch ${at}/network`, ...steps, ''].join('\n');
}

function homeSteps(places: Places, host: string, traits: Traits): string[] {
  if (!hasOwnHome(traits)) return [];
  const { home } = places;
  const own = places.privateHome(host);
  const full = traits.names.has('full-disk');
  const steps = full
    ? [`mount -t tmpfs -o mode=700,size=${FULL_HOME_KBYTES}k stci ${home}`, `cp -a ${own}/. ${home}/`,
      `cat /dev/zero >${home}/filler 2>/dev/null || true`]
    : [`mount --bind ${own} ${home}`];
  return traits.names.has('readonly-home') ? [...steps, `mount -o remount,bind,ro ${home}`] : steps;
}

/**
 * An overlay over each directory that has a node: a whiteout hides it, a file replaces it. The real one is also bound
 * elsewhere, so that the old node can run.
 */
function nodeSteps(at: string, { nodeDirectories }: Machine, old: boolean): string[] {
  const mask = `${at}/mask`;
  return [
    `mkdir -p ${mask}`,
    `mount -t tmpfs -o size=4m stci ${mask}`,
    ...(old ? [`touch ${mask}/node`, `mount --bind ${nodeDirectories[0]}/node ${mask}/node`] : []),
    ...nodeDirectories.flatMap((directory, index) => [
      `mkdir ${mask}/upper${index} ${mask}/work${index}`,
      old ? `cp ${at}/old-node ${mask}/upper${index}/node` : `mknod ${mask}/upper${index}/node c 0 0`,
      `mount -t overlay -o lowerdir=${directory},upperdir=${mask}/upper${index},workdir=${mask}/work${index}` +
        ` stci ${directory}`,
    ]),
  ];
}

/** A node that runs programs but reports version 18. */
export function oldNode(at: string): string {
  return `#!/bin/sh
case "$1" in -v|--version) echo v18.20.4; exit ;; esac
exec ${at}/mask/node --require ${at}/old-node.cjs "$@"
`;
}

export function oldNodePreload(): string {
  return `Object.defineProperty(process, 'version', { value: 'v18.20.4' });
Object.defineProperty(process, 'versions', { value: Object.freeze({ ...process.versions, node: '18.20.4' }) });
`;
}

export function bannerShell(): string {
  return `echo '*** Welcome. Use of this system is recorded. ***'
echo '*** Maintenance on Sunday. ***' >&2
`;
}

export function exitingShell(): string {
  return `#!/bin/sh
echo 'This account is currently not available.'
exit 1
`;
}

export function slowShell(delayMs: number, greeting: string, shell: string): string {
  return `#!/bin/sh
${delayMs > 0 ? `sleep ${delayMs / 1000}\n` : ''}${greeting}exec ${shell} "$@"
`;
}
