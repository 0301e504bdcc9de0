/** Fault injection as a service of agents: its code is loaded by the first order, and by the first experiment. */

import type { Service } from '../service/contracts.js';
import { Loadable } from '../service/loadable.js';
import './messages.js';

export const faultService: Service = {
  name: 'faults',
  messages: {
    root: ['fault.inject', 'fault.undo', 'agent.clock'],
    session: ['fault.inject', 'fault.undo'],
  },
  code: new Loadable('fault injection', () => import('./fault-service.js').then(({ code }) => code)),
};
