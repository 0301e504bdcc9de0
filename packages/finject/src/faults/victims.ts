/** Victims by kind, and where they are now. Pure. */

import type { FaultPart, FaultPlace, FaultVictim } from '@stci/interface';

export type VictimOf<Kind extends FaultVictim['kind']> = Extract<FaultVictim, { readonly kind: Kind }>;

/** At the session agent of a rank that runs; else why there is none. */
export function atRank({ rank }: VictimOf<'rank'>, place: FaultPlace): readonly FaultPart[] | string {
  const host = place.hostOf(rank);
  if (host === undefined) return `rank ${rank} does not run: it has ended, or was not started`;
  return [{ at: { role: 'session', host }, body: {} }];
}

/** At the root agent, or the session agent, of a host that is up; else why there is none. */
export function atRoot(
  host: number, place: FaultPlace, role: 'root' | 'session' = 'root',
): readonly FaultPart[] | string {
  if (!place.isUp(host)) return `root:${host} is not up`;
  return [{ at: { role, host }, body: {} }];
}

export const AT_CONTROLLER: readonly FaultPart[] = [{ at: { role: 'controller', host: 0 }, body: {} }];
