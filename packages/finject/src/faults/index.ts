/** The kinds of faults that come with finject. */

import type { AnyComponent } from '@stci/interface';
import { faultNoop } from './noop.js';

export const faultComponents: readonly AnyComponent[] = [faultNoop];
