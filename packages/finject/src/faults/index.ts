/** The kinds of faults that come with finject. */

import type { AnyComponent } from '@stci/interface';
import { faultNoop } from './noop.js';
import { faultPkill } from './pkill.js';

export const faultComponents: readonly AnyComponent[] = [faultNoop, faultPkill];
