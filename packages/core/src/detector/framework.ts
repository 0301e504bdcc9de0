/** Framework `detector` (STCI paper, II-F.1), mode many: what finds failures. Its modules are pure. */

import { defineFramework, param, type DetectorModule, type NoDeps } from '@stci/interface';

export const detectorFramework = defineFramework<DetectorModule, NoDeps>({
  name: 'detector',
  mode: 'many',
  version: 2,
  // They cost nothing until something fails, or a tool promises a sign of life.
  always: ['link', 'process', 'watchdog'],
  help: 'What finds failures of tools, agents, hosts and links.',
  params: {
    latency: param.duration(20, [0, 60_000], 'The longest that a message between two agents is expected to take. The '
      + 'promised times of detectors hold as long as it does. The controller gives an agent that is suspected, '
      + 'or was reported, ten times as long to answer, at most a quarter of bootcom.lease.'),
  },
});
