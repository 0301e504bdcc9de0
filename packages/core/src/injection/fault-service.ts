/** The code of the service: a site at each agent that gets orders, and fault control at the controller. */

import { CONTROLLER, assert } from '@stci/interface';
import type { Place, ServiceCode } from '../service/contracts.js';
import { readClock } from './clock-offsets.js';
import { controllerActions, rootActions, toolActions } from './fault-actions.js';
import { FaultControl } from './fault-control.js';
import { FaultSite, SITE_UNDO_MS, type FaultActions } from './fault-site.js';

/** How long what is done after the controller was told waits for its answer: it may be cut off already. */
const TOLD_MS = 2000;

assert(TOLD_MS < SITE_UNDO_MS, 'what waits for the controller can be undone');

export const code: ServiceCode = {
  root: (place) => {
    place.node.messages.on('agent.clock', () => readClock(place.node));
    return openSite(place, rootActions(place));
  },
  session: (place) => openSite(place, toolActions(place)),
  controller: ({ node, scope, session }) => {
    return new FaultControl({ node, scope, actions: () => controllerActions(node), session });
  },
};

/** Of a root or session agent: the controller orders, and is told. */
function openSite({ node, scope }: Place, actions: FaultActions): FaultSite {
  const site = new FaultSite({
    node, scope, actions,
    report: (report, told) => {
      if (told === undefined) return void node.messages.send(CONTROLLER, 'fault.report', report);
      node.messages.request(CONTROLLER, 'fault.report', report, told, { timeoutMs: TOLD_MS });
    },
    isCutOff: () => node.router.parentLink === undefined,
  });
  node.messages.on('fault.inject', (message) => site.inject(message));
  node.messages.on('fault.undo', ({ id }) => site.undo(id));
  return site;
}
