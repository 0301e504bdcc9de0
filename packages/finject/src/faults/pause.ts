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
    + 'leave its group.a pause of no time is none: give a duration of at least 1 msagentfront-endthe front-end '
    + 'cannot be paused: nothing would end the experimentrankhostagentit has no processcontrollerroota session '
    + 'agent is one of a job, and no job was '
    + 'namedsessionrankhostallselfpausepausestoppedwhomprocessgroupsignalstopSIGSTOPsignalcontinueSIGCONTpause1.0.0A '
    + 'rank, an agent or all of a host stands still for a time, as by SIGSTOP. An agent that is stopped cannot '
    + 'be told to go on before.',
  params: {},
  query: () => accept(50),
  create: () => module,
});
