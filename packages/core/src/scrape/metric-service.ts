/** The code of the service: each agent answers with its rows, and the controller asks all, each agent's as it comes. */

import { CONTROLLER, agentName } from '@stci/interface';
import type { MetricRow } from '../metrics/row.js';
import { requestAll } from '../node/request-all.js';
import type { ControllerPlace, OpenService, Place, ServiceCode } from '../service/contracts.js';
import type { SessionMetrics } from './contracts.js';
import { rowsOf } from './rows.js';

/** Whoever takes longer is left out. */
const ANSWER_MS = 2000;

export const code: ServiceCode = { root: answer, session: answer, controller: openGathering };

function answer(place: Place): OpenService {
  place.node.messages.on('agent.metrics', () => rowsHere(place));
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
      const silent: string[] = [];
      requestAll(place.node, place.session.agents, {
        name: 'agent.metrics', body: {}, timeoutMs: ANSWER_MS,
        onAnswer: (error, reply, [agent, job]) => {
          const name = agentName(agent, job);
          if (error === undefined) onAgent(name, reply as readonly MetricRow[]);
          else silent.push(name);
        },
        onDone: () => onDone(silent),
      });
    },
  };
}
