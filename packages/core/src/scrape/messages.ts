/** Message types of metrics: rows that are added to the table. */

import { collected } from '../messages/collected.js';
import { declareMessages } from '../messages/messages.js';
import { metricRows } from '../metrics/row.js';

const METRIC_MESSAGES = {
  /** What each agent has counted. */
  'agent.metrics': { id: 110, ...collected('all', metricRows) },
} as const;

export type MetricMessages = typeof METRIC_MESSAGES;

declare module '../messages/messages.js' {
  interface MessageTable extends MetricMessages {}
}

declareMessages(METRIC_MESSAGES);
