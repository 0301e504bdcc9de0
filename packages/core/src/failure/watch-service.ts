/** The code of the service: the watch of a root agent, and its answers to the controller's probes. */

import type { ServiceCode } from '../service/contracts.js';
import { answerProbes } from './host-probe.js';
import { RootFailures } from './root-failures.js';

export const code: ServiceCode = {
  root: (place) => {
    answerProbes(place.node);
    return new RootFailures({ ...place, ...place.losses, jobs: () => place.sessions.jobs });
  },
};
