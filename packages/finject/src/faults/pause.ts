/** Fault `pause`: a rank, an agent or a host stands still for a time, as by SIGSTOP, and goes on. */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultModule } from '@stci/interface';
import { oneAction } from './machines.js';
import { AT_CONTROLLER, atRank, atRoot } from './victims.js';

const module: FaultModule = {
  victims: ['rank', 'agent', 'host'],
  undoes: true,
  args: {
    whom: {
      type: 'enum', default: 'group', values: ['process', 'group'],
      help: 'Of a rank. process: its process alone; group: with the processes that it has started and that did not '
        + 'leave its group.',
    },
  },
  problemOf: ({ victim, durationMs }) => {
    if (durationMs === 0) return 'a pause of no time is none: give a duration of at least 1 ms';
    const isFrontEnd = victim.kind === 'agent' && victim.role === 'front-end';
    return isFrontEnd ? 'the front-end cannot be paused: nothing would end the experiment' : undefined;
  },
  plan: ({ victim, job }, place) => {
    if (victim.kind === 'rank') return atRank(victim, place);
    if (victim.kind === 'host') return atRoot(victim.host, place);
    if (victim.kind !== 'agent') return 'it has no process';
    if (victim.role === 'controller') return AT_CONTROLLER;
    if (victim.role === 'root') return atRoot(victim.host, place);
    if (job === 0) return 'a session agent is one of a job, and no job was named';
    return atRoot(victim.host, place, 'session');
  },
  open: ({ order: { args, victim, durationMs = 0 } }) => {
    if (victim.kind !== 'rank') {
      const what = victim.kind === 'host' ? 'all' : 'self';
      // The agent is continued by another process, or not at all: there is nothing left to undo.
      return oneAction({ inject: { type: 'pause', key: 'pause', what, forMs: durationMs }, text: 'stopped' });
    }
    const ranks = [victim.rank];
    const whom = args['whom'] as 'process' | 'group';
    return oneAction({
      inject: { type: 'signal', key: 'stop', ranks, signal: 'SIGSTOP', whom },
      undo: { type: 'signal', key: 'continue', ranks, signal: 'SIGCONT', whom },
      text: `rank ${victim.rank} is stopped`,
    });
  },
};

export const faultPause = defineComponent({
  framework: faultFramework,
  name: 'pause',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A rank, an agent or all of a host stands still for a time, as by SIGSTOP. An agent that is stopped '
    + 'cannot be told to go on before.',
  params: {},
  args: module.args,
  query: () => accept(50),
  create: () => module,
});
