/** The code of the arbiter, which is loaded when it is needed. */

import { Loadable } from '../service/loadable.js';
import type { Arbiter } from './arbiter.js';

export const arbiterCode = new Loadable<typeof Arbiter>(
  'the failure watch', () => import('./arbiter.js').then((code) => code.Arbiter),
);
