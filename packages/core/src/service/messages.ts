/** Message types of the parts of plugins' services: rows that are added to the table. */

import { SERVICE_BODY_BYTES_MAX } from '@stci/interface';
import { name } from '../codec/bounds.js';
import { any, fields, u32 } from '../codec/shape.js';
import { declareMessages } from '../messages/messages.js';

const PART_MESSAGES = {
  /** Session agent → controller: of a service's part there. */
  'service.message': {
    id: 140, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, service: name, body: any(SERVICE_BODY_BYTES_MAX) }),
  },
  /** Controller → one session agent of a job, or all: of a service's part there. */
  'service.told': { id: 141, from: 'above', body: fields({ service: name, body: any(SERVICE_BODY_BYTES_MAX) }) },
} as const;

export type PartMessages = typeof PART_MESSAGES;

declare module '../messages/messages.js' {
  interface MessageTable extends PartMessages {}
}

declareMessages(PART_MESSAGES);
