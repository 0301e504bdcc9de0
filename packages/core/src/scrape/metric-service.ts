/** The code of the service: each agent contributes its rows, and the controller collects all. */

import { CONTROLLER, agentName } from '@stci/interface';
import type { AgentOfJob } from '../messages/collected.js';
import type { MetricRow } from '../metrics/row.js';
import type { ControllerPlace, OpenService, Place, ServiceCode } from '../service/contracts.js';
import type { SessionMetrics } from './contracts.js';
import { rowsOf } from './rows.js';

export const code: ServiceCode = { root: contribute, session: contribute, controller: openGathering };

function contribute(place: Place): OpenService {
  place.node.collects.on('agent.metrics', () => rowsHere(place));
  return { stop: () => undefined };
}

function rowsHere({ node, scope }: Place): MetricRow[] {
  return rowsOf(node.metrics, (name) => scope.detectors().find((one) => one.name === name)?.module.metrics ?? {});
}

function openGathering(place: ControllerPlace): OpenService & SessionMetrics {
  return {
    stop: () => undefined,
    gather: ({ onAgent, onDone }) => {
      onAgent(agentName(CONTROLLER, 0), rowsHere(place));
      const onEach = (rows: readonly MetricRow[], agent: AgentOfJob): void => onAgent(agentName(...agent), rows);
      place.node.collects.ask('agent.metrics', place.session.agents, { onEach, onDone });
    },
  };
}
