/** Message types of metrics: rows that are added to the table. */

import { fields } from '../codec/shape.js';
import { declareMessages } from '../messages/messages.js';
import { metricRows } from '../metrics/row.js';

const METRIC_MESSAGES = {
  /** Controller → root or session agent, request: what it has counted. */
  'agent.metrics': { id: 110, from: ['controller'], body: fields({}), reply: metricRows },
} as const;

export type MetricMessages = typeof METRIC_MESSAGES;

declare module '../messages/messages.js' {
  interface MessageTable extends MetricMessages {}
}

declareMessages(METRIC_MESSAGES);
