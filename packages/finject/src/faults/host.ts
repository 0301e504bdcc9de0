/** Fault `host`: all that runs on a host ends as by SIGKILL: its ranks, its session agents, its root agent. */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultModule } from '@stci/interface';
import { lastAction } from './machines.js';
import { atRoot, type VictimOf } from './victims.js';

const module: FaultModule = {
  victims: ['host'],
  undoes: false,
  args: {},
  impactOf: () => 'ends',
  problemOf: () => undefined,
  plan: ({ victim }, place) => atRoot((victim as VictimOf<'host'>).host, place),
  open: () => lastAction({ type: 'kill', key: 'kill', what: 'all' }, 'all of the host is being killed'),
};

export const faultHost = defineComponent({
  framework: faultFramework,
  name: 'host',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'The crash of a host, as far as a user can make one: all of the session on it is killed. Its kernel closes the '
    + 'links; for a host that falls silent, see fault partition.',
  params: {},
  query: () => accept(50),
  create: () => module,
});
