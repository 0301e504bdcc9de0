/** The code of the service: links and routes at each root agent and the controller, and overlay control there. */

import type { ServiceCode } from '../service/contracts.js';
import { LinkedOverlay } from './linked-overlay.js';
import { OverlayControl } from './overlay-control.js';

export const code: ServiceCode = {
  root: (place) => {
    if (place.node.params.string('overlay.topology') === '') return { stop: () => undefined };
    const linked = new LinkedOverlay(place, place.hosts + 1);
    return { stop: () => linked.close() };
  },
  controller: (place) =>
    place.node.params.string('overlay.topology') === '' ? { stop: () => undefined } : new OverlayControl(place),
};
