/** The code of the arbiter, which is loaded when it is needed. */

import { Loadable } from '../service/loadable.js';
import type { Arbiter, ArbiterInit } from './contracts.js';

export const arbiterCode = new Loadable<(init: ArbiterInit) => Arbiter>(
  'the failure watch', () => import('./arbiter.js').then(({ openArbiter }) => openArbiter),
);
