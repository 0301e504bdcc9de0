/** The kinds of faults that come with finject. */

import type { AnyComponent } from '@stci/interface';
import { faultAgent } from './agent.js';
import { faultExit } from './exit.js';
import { faultHost } from './host.js';
import { faultLink } from './link.js';
import { faultLoad } from './load.js';
import { faultNetwork } from './network.js';
import { faultNoop } from './noop.js';
import { faultPartition } from './partition.js';
import { faultPause } from './pause.js';
import { faultPkill } from './pkill.js';

export const faultComponents: readonly AnyComponent[] = [
  faultAgent, faultExit, faultHost, faultLink, faultLoad, faultNetwork, faultNoop, faultPartition, faultPause,
  faultPkill,
];
