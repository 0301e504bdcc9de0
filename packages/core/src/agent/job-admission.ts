/** Whether a job can be run on the hosts of the session. */

import { StciError } from '@stci/interface';
import type { Bootstrap } from './bootstrap.js';
import { ControllerJob } from './controller-job.js';
import { restartingError } from './job-failures.js';
import type { ControllerJobInit } from './job-session.js';

/**
 * The job. Throws StciError if it cannot be run; where it would fit if hosts were up that are being started again,
 * `data.busy` of the error says so.
 */
export function admitJob(init: ControllerJobInit, bootstrap: Bootstrap): ControllerJob {
  try {
    return new ControllerJob(init);
  } catch (fault) {
    const awaited = [...init.leftOut].filter((host) => bootstrap.isRestarting(host));
    if (!(fault instanceof StciError) || fault.data['busy'] === true || awaited.length === 0) throw fault;
    const leftOut = new Set([...init.leftOut].filter((host) => !awaited.includes(host)));
    void new ControllerJob({ ...init, leftOut }); // Throws if not even then.
    throw restartingError(awaited.map((host) => bootstrap.hostName(host)));
  }
}
