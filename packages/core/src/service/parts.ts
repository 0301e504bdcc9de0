/** The code of the services of plugins: their parts at a host, and at the controller. */

import type { ControllerPlace, OpenService, ServiceCode } from './contracts.js';
import { ControllerParts } from './controller-parts.js';
import { HostParts } from './host-parts.js';

export const code: ServiceCode = { job: (place) => new HostParts(place), controller: listen };

function listen({ node: { messages }, scope, jobOf }: ControllerPlace): OpenService {
  messages.on('service.message', ({ host, service, body }, { job }) => {
    jobOf(job)?.service('parts', (of) => new ControllerParts(of, scope)).onMessage(service, host, body);
  });
  return { stop: () => undefined };
}
