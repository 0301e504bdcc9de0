/** Hosts of a membership table. */

import type { HostSpec } from '@stci/interface';

export const specOf = (name: string): HostSpec => ({ name, slots: 1, slotsBound: false, origin: 'test' });

/** h0, h1, … */
export const specs = (count: number): HostSpec[] => Array.from({ length: count }, (_, host) => specOf(`h${host}`));
