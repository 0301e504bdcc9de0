/** Fault `pkill`: a signal for a rank, its process alone or with all that it has started. */

import { accept, defineComponent, faultFramework, signalNamed } from '@stci/core/component';
import type { FaultModule, SignalName } from '@stci/interface';
import { oneAction } from './machines.js';
import { atRank, type VictimOf } from './victims.js';

/** A program goes on if it does not handle them. */
const IGNORED: ReadonlySet<string> = new Set(['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH']);

/** Nothing would continue the rank. */
const STOPPING: ReadonlySet<string> = new Set(['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU']);

const module: FaultModule = {
  victims: ['rank'],
  undoes: false,
  args: {
    signal: { type: 'string', default: 'SIGKILL', help: 'Name or number of the signal, such as SIGTERM, TERM or 15.' },
    whom: {
      type: 'enum', default: 'process', values: ['process', 'group'],
      help: 'process: the rank alone; group: with the processes that it has started and that did not leave its group.',
    },
  },
  impactOf: ({ signal }) => {
    const name = signalNamed(String(signal)) ?? '';
    return name === 'SIGKILL' ? 'ends' : IGNORED.has(name) ? 'disturbs' : 'may-end';
  },
  problemOf: ({ args }) => {
    const given = String(args['signal']);
    const signal = signalNamed(given);
    if (signal === undefined) return `'${given}' is no signal: write its name or number, such as SIGTERM`;
    if (!STOPPING.has(signal)) return undefined;
    return `${signal} would stop the rank for ever: use fault pause, which continues it`;
  },
  plan: ({ victim }, place) => atRank(victim as VictimOf<'rank'>, place),
  open: ({ order: { args, victim } }) => {
    const { rank } = victim as VictimOf<'rank'>;
    const signal = signalNamed(String(args['signal'])) as SignalName;
    const whom = args['whom'] as 'process' | 'group';
    const text = `${signal} to rank ${rank}${whom === 'group' ? ' and its group' : ''}`;
    return oneAction({ inject: { type: 'signal', key: 'signal', ranks: [rank], signal, whom }, text });
  },
};

export const faultPkill = defineComponent({
  framework: faultFramework,
  name: 'pkill',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A signal for a rank: by default SIGKILL, the crash of a process.',
  params: {},
  args: module.args,
  query: () => accept(50),
  create: () => module,
});
