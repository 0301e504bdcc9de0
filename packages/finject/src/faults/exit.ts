/** Fault `exit`: a rank ends itself with a status, as a program does that finds an error. */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultModule } from '@stci/interface';
import { oneAction } from './machines.js';
import { atRank, type VictimOf } from './victims.js';

const STATUS_MAX = 255;

const module: FaultModule = {
  victims: ['rank'],
  undoes: false,
  args: {
    status: { type: 'int', default: 1, min: 0, max: STATUS_MAX, help: 'Exit status of the program.' },
  },
  impactOf: ({ status }) => (status === 0 ? 'disturbs' : 'ends'),
  problemOf: () => undefined,
  plan: ({ victim }, place) => atRank(victim as VictimOf<'rank'>, place),
  open: ({ order: { args, victim } }) => {
    const { rank } = victim as VictimOf<'rank'>;
    const status = args['status'] as number;
    return oneAction({ inject: { type: 'exit', key: 'exit', rank, status }, text: `rank ${rank} ends with ${status}` });
  },
};

export const faultExit = defineComponent({
  framework: faultFramework,
  name: 'exit',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A rank ends itself with a status. Its program has to use the client library (stcirun --client): nobody '
    + 'else can make a process end with a status.',
  params: {},
  args: module.args,
  query: () => accept(50),
  create: () => module,
});
