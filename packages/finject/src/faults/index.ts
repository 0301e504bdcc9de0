/** The kinds of faults that come with finject. */

import type { AnyComponent } from '@stci/interface';
import { faultLink } from './link.js';
import { faultNoop } from './noop.js';
import { faultPartition } from './partition.js';
import { faultPkill } from './pkill.js';

export const faultComponents: readonly AnyComponent[] = [faultLink, faultNoop, faultPartition, faultPkill];
