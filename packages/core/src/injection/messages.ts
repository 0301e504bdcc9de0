/** Message types between the controller and the sites of faults: rows that the service adds to the table. */

import { bool, fields, num, optional, u32, wallTime } from '../codec/shape.js';
import { faultName, faultOrder, faultPart, faultReport } from '../messages/fault-shapes.js';
import { declareMessages } from '../messages/messages.js';

const FAULT_SITE_MESSAGES = {
  /** Controller → site: set up and inject this part. The site undoes it by itself after the order's duration. */
  'fault.inject': {
    id: 127, from: ['controller'], body: fields({ order: faultOrder, number: u32, part: faultPart }),
  },
  'fault.undo': { id: 128, from: ['controller'], body: fields({ id: faultName }) },
  /**
   * Site → controller; as a request, its reply has no body. `number`: of the part in the plan; `over`: torn down.
   */
  'fault.report': {
    id: 129, from: ['root', 'session'], ofOwnHost: true,
    body: fields({ host: u32, number: u32, report: optional(faultReport), id: faultName, over: bool }),
  },
  /** Controller → root agent, request: its clock. */
  'agent.clock': { id: 130, from: ['controller'], body: fields({}), reply: fields({ wallMs: wallTime, nowMs: num }) },
} as const;

export type FaultSiteMessages = typeof FAULT_SITE_MESSAGES;

declare module '../messages/messages.js' {
  interface MessageTable extends FaultSiteMessages {}
}

declareMessages(FAULT_SITE_MESSAGES);
