// @ts-check
/**
 * The command that makes the namespaces, runs a shell as their first process, and in it the agent:
 *
 *     unshare --fork --kill-child=KILL --pid --mount-proc --uts … sh -c SCRIPT sh NAME AGENT…
 *
 * `--kill-child` ends the shell when unshare is killed, and with the first process of a namespace the kernel ends all
 * others in it. Who is not root needs a namespace of users to be allowed the rest, and stays himself in it.
 */

import { reachHere } from '@stci/core/component';

/** Sets the hostname; then waits for the agent, so that what it leaves behind has a parent that reaps it. */
const SCRIPT = 'hostname "$1" || exit 1; shift; "$@"; exit $?';

const NAMESPACES = ['--fork', '--kill-child=KILL', '--pid', '--mount-proc', '--uts'];
const OF_USER = ['--user', '--map-current-user', '--keep-caps'];

/**
 * Agents that `launcher.root.method` makes threads, or objects of this process, have its namespaces.
 *
 * @param {import('@stci/interface').LauncherProcDeps} deps
 * @param {string} command
 * @param {readonly string[]} options
 * @returns {import('@stci/interface').LauncherProc}
 */
export function createUnshare({ platform, inline }, command, options) {
  const { processes, env } = platform;
  const namespaces = [command, ...(env.user === 'root' ? [] : OF_USER), ...NAMESPACES, ...options];
  return {
    name: 'unshare',
    start: (start, events) => {
      const { method, host: { name } } = start;
      if (method === 'inline') return inline(start, events);
      if (method === 'thread') return processes.spawnAgent(method, processes.agentCommand, events);
      const inside = ['sh', '-c', SCRIPT, 'sh', name, ...processes.agentCommand];
      return processes.spawnAgent(method, [...namespaces, ...inside], events);
    },
    reach: (reach, events) => reachHere(platform, reach, events),
  };
}
