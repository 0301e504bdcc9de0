// @ts-check
/**
 * Launcherproc `sample`: agents on this machine, whatever their hosts are called, each by a command of its own: words
 * that are put before the agent's command, such as `nice -n 10`.
 */

import { accept, decline, defineComponent, launcherprocFramework, reachHere } from '@stci/core/component';

export const component = defineComponent({
  framework: launcherprocFramework,
  name: 'sample',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Agents on this machine, by a command of your own.',
  params: {
    prefix: {
      type: 'list', default: [], help: 'Words that are put before the command of an agent, such as nice,-n,10.',
    },
  },
  query: ({ named }) => (named === true ? accept(10, 'selected by name') : decline('only by name')),
  create: ({ platform, inline }, params) => {
    const { processes } = platform;
    const prefix = Array.isArray(params['prefix']) ? params['prefix'] : [];
    return {
      name: 'sample',
      // Threads, and objects of this process, have no command of their own.
      start: (start, events) => {
        if (start.method === 'inline') return inline(start, events);
        const command = start.method === 'process' ? [...prefix, ...processes.agentCommand] : processes.agentCommand;
        return processes.spawnAgent(start.method, command, events);
      },
      reach: (reach, events) => reachHere(platform, reach, events),
    };
  },
});
