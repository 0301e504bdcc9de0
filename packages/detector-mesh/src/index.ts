/** Detector component `mesh`: periodic ping-pong along a topology (Kharbas, 2.1.1). */

import {
  DETECTOR_MESSAGE_BYTES, PROBE_BYTES, PROBE_METRICS, acceptNamed, defineComponent, detectorFramework, durationParam,
  notifierParam, perSecond, timeoutProblem,
} from '@stci/core/component';
import { param, type DetectorModule, type ParamValue } from '@stci/interface';
import { Mesh, type MeshSettings } from './mesh.js';

type Params = Readonly<Record<string, ParamValue>>;

const AUTO = 'auto';
const TIMEOUT_PERIODS = 10;
/** Links of a position in the topology of its own: a mesh of three dimensions. */
const NEIGHBOURS_MAX = 6;

function settingsOf(params: Params): MeshSettings {
  const periodMs = params['period'] as number;
  const timeoutMs = (params['timeout'] as number) || TIMEOUT_PERIODS * periodMs;
  return { periodMs, timeoutMs, confirmMs: periodMs, graceMs: params['grace'] as number };
}

function createMesh(params: Params): DetectorModule {
  const settings = settingsOf(params);
  const { periodMs, timeoutMs, confirmMs } = settings;
  const topology = params['topology'] as string;
  return {
    watches: 'agents',
    topology: topology === AUTO ? 'mesh' : topology,
    followsOverlay: topology === AUTO,
    metrics: PROBE_METRICS,
    promise: ({ members, latencyBoundMs }) => {
      // The last sign of life came at most a period before the failure, or a message's time after it.
      const detection = {
        minMs: Math.max(0, timeoutMs - 2 * latencyBoundMs),
        maxMs: timeoutMs + confirmMs + latencyBoundMs,
      };
      // A ping and an answer for each neighbour.
      const rate = 2 * Math.min(members - 1, NEIGHBOURS_MAX) * perSecond(periodMs);
      return {
        detection,
        leadMs: confirmMs,
        messagesPerSecond: rate,
        bytesPerSecond: rate * (DETECTOR_MESSAGE_BYTES + PROBE_BYTES),
        text: `A dead agent is reported after ${detection.minMs} to ${detection.maxMs} ms, by each of its neighbours.`,
      };
    },
    open: (init) => new Mesh(init, settings),
  };
}

export const detectorMesh = defineComponent({
  framework: detectorFramework,
  name: 'mesh',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'Each agent pings its neighbours of a topology: several witnesses of each failure, for more messages.',
  params: {
    notifier: notifierParam,
    topology: param.text(AUTO, 'Topology whose neighbours ping one another, as --overlay has it; auto is that of the '
      + 'overlay, or mesh.'),
    period: durationParam(500, 'Time between two pings of a neighbour. Shorter finds dead agents sooner, longer costs '
      + 'fewer messages.'),
    timeout: durationParam(0, 'Silence after which a neighbour is suspected, longer than the period; after a further '
      + `period it is reported. 0 is ${TIMEOUT_PERIODS} x period.`, 0),
    grace: durationParam(10_000, 'How much longer an agent that starts may take for its first answer.', 0),
  },
  query: (context) => {
    const { periodMs, timeoutMs } = settingsOf(context.params);
    return acceptNamed(context, timeoutProblem('mesh', periodMs, timeoutMs));
  },
  create: (_deps, params) => createMesh(params),
});
