/** The services of plugins, as one of agents: loaded where a job has any. */

import type { Service } from './contracts.js';
import { Loadable } from './loadable.js';
import './messages.js';
import { serviceFramework } from './framework.js';

export const partService: Service = {
  name: 'parts',
  messages: { job: ['service.told'], controller: ['service.message'] },
  passed: ['service.told'],
  wants: (params, scope) => scope.selected(serviceFramework, params).length > 0,
  code: new Loadable('the services of plugins', () => import('./parts.js').then(({ code }) => code)),
};
