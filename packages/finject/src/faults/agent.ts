/** Fault `agent`: a root or session agent, or where it is permitted the controller, ends as by SIGKILL. */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultModule } from '@stci/interface';
import { lastAction, oneAction } from './machines.js';
import { AT_CONTROLLER, atRoot, type VictimOf } from './victims.js';

const module: FaultModule = {
  victims: ['agent'],
  undoes: false,
  args: {},
  impactOf: () => 'ends',
  problemOf: () => undefined,
  plan: ({ victim, job }, place) => {
    const { role, host } = victim as VictimOf<'agent'>;
    if (role === 'controller') return AT_CONTROLLER;
    if (role === 'session' && job === 0) return 'a session agent is one of a job, and no job was named';
    return atRoot(host, place);
  },
  open: ({ order: { victim } }) => {
    const { role, host } = victim as VictimOf<'agent'>;
    if (role === 'session') {
      return oneAction({ inject: { type: 'kill', key: 'kill', what: 'session' }, text: `session:${host} was killed` });
    }
    const name = role === 'root' ? `root:${host}` : role;
    return lastAction({ type: 'kill', key: 'kill', what: 'self' }, `${name} is being killed`);
  },
};

export const faultAgent = defineComponent({
  framework: faultFramework,
  name: 'agent',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'The crash of an agent: a root or session agent, or the controller where that is permitted. The front-end '
    + 'kills itself, where that is permitted.',
  params: {},
  query: () => accept(50),
  create: () => module,
});
