/** What the client library needs of agents, as a service: its code is loaded where a job has `client.enable`. */

import type { Service } from '../service/contracts.js';
import { Loadable } from '../service/loadable.js';
import './messages.js';

export const programService: Service = {
  name: 'programs',
  messages: {
    job: [
      'program.state', 'program.failed', 'program.ended', 'program.agreed', 'program.refused', 'program.wait',
      'program.messages', 'program.taken',
    ],
    controller: ['program.open', 'program.votes', 'program.marked'],
  },
  passed: ['program.failed', 'program.ended', 'program.agreed', 'program.wait'],
  wants: (params) => params.bool('client.enable'),
  code: new Loadable('the client library', () => import('./program-service.js').then(({ code }) => code)),
};
