/** Metrics as a service of agents: its code is loaded where somebody asks what was counted. */

import type { Service } from '../service/contracts.js';
import { Loadable } from '../service/loadable.js';
import './messages.js';

export const metricService: Service = {
  name: 'metrics',
  messages: { root: ['agent.metrics'], session: ['agent.metrics'] },
  code: new Loadable('metrics', () => import('./metric-service.js').then(({ code }) => code)),
};
