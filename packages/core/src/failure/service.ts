/** The failure watch of root agents as a service: loaded where detectors watch agents, or programs want to know. */

import type { Service } from '../service/contracts.js';
import { Loadable } from '../service/loadable.js';

export const watchService: Service = {
  name: 'watch',
  messages: {
    root: [
      'failure.watch', 'failure.changes', 'failure.interest', 'failure.awaited', 'failure.told', 'detector.message',
      'notifier.message', 'probe.ask',
    ],
  },
  isOfAgents: (params) => params.string('overlay.topology') !== '' || params.list('detector').length > 0,
  code: new Loadable('the failure watch', () => import('./watch-service.js').then(({ code }) => code)),
};
