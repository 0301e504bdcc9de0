/**
 * What MPI libraries need of agents, as a service: a job offers the selected protocols to its ranks, and the code of
 * each is loaded when a program speaks it.
 */

import type { Service } from '../service/contracts.js';
import { Loadable } from '../service/loadable.js';
import './messages.js';
import { pmiFramework } from './framework.js';
import { PmiPort } from './pmi-port.js';

export const pmiService: Service = {
  name: 'pmi',
  messages: {
    job: ['pmi.done', 'pmi.lost', 'pmi.event', 'pmi.get', 'pmi.forget'],
    controller: [
      'pmi.open', 'pmi.enter', 'pmi.publish', 'pmi.unpublish', 'pmi.lookup', 'pmi.sets', 'pmi.spawn', 'pmi.abort',
      'pmi.notify', 'pmi.split', 'pmi.forget',
    ],
  },
  passed: ['pmi.done', 'pmi.lost', 'pmi.event'],
  wants: (params, scope) => scope.selected(pmiFramework, params).length > 0,
  job: (place) => new PmiPort(place),
  code: new Loadable('the service for MPI libraries', () => import('./job-pmi.js').then(({ code }) => code)),
};
