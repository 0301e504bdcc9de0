/** Links beside the boot tree as a service of agents: loaded where the parameters ask for an overlay. */

import type { Service } from '../service/contracts.js';
import { Loadable } from '../service/loadable.js';

export const overlayService: Service = {
  name: 'overlay',
  messages: { root: ['overlay.open', 'overlay.links'], controller: ['overlay.opened'] },
  isOfAgents: (params) => params.string('overlay.topology') !== '',
  code: new Loadable('the overlay', () => import('./overlay-service.js').then(({ code }) => code)),
};
