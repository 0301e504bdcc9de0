/** A request → the job and where its ranks run. */

import { mapJob } from '@stci/core';
import type { HostStatus } from '@stci/core/session';
import type { AllocatedJob, HostSpec, JobMap } from '@stci/interface';
import { checkSpec } from '../cli/bytes.js';
import { withheld } from '../cli/environment.js';
import { hostPlace } from './allocate-hosts.js';
import type { Prepared } from './prepare.js';
import { makeJobSpec, makeSessionSpec, onHostsNow } from './spec.js';

export interface PlannedJob {
  readonly spec: AllocatedJob;
  readonly spares: readonly HostSpec[];
  readonly map: JobMap;
}

/** The job and its map, on hosts of its own or on those of a session. Throws StciError. */
export function planJob(
  prepared: Pick<Prepared, 'request' | 'registry' | 'params' | 'platform' | 'wdir' | 'say'>,
  ofSession: readonly HostStatus[] | undefined,
): PlannedJob {
  const { request, params, platform, wdir, say } = prepared;
  const { spec, spares } = ofSession === undefined
    ? makeJobSpec(request, hostPlace(prepared, platform, wdir))
    : { spec: makeSessionSpec(request, { wdir, env: platform.env }, ofSession), spares: [] };
  checkSpec(spec);
  const names = request.verbose ? withheld(platform.env.variables, spec.env) : [];
  if (names.length > 0) say(`variables not passed on (--export, -x): ${names.join(' ')}`);
  const ranksMax = params.int('job.size.max');
  const ranksPerHostMax = params.int('job.ranks.per.host.max');
  const now = ofSession === undefined ? spec : onHostsNow(spec, ofSession);
  return { spec, spares, map: mapJob(now, { ranksMax, ranksPerHostMax }) };
}
