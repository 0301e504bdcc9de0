/** The code of the service: a port at each session agent of a job, and what is decided at the controller. */

import type { JobId } from '@stci/interface';
import type { ControllerPlace, OpenService, ServiceCode } from '../service/contracts.js';
import { openPrograms, type JobPrograms } from './job-programs.js';
import { ProgramPort } from './program-port.js';

export const code: ServiceCode = {
  job: (place) => new ProgramPort(place),
  controller: listen,
};

/** Messages of session agents to their job's programs; those of a job that is over are late. */
function listen({ node: { messages }, jobOf }: ControllerPlace): OpenService {
  const of = (job: JobId): JobPrograms | undefined => jobOf(job)?.service('programs', openPrograms);
  messages.on('program.open', ({ host }, { job }) => of(job)?.onOpen(host));
  messages.on('program.votes', (votes, { job }) => of(job)?.onVotes(votes));
  messages.on('program.marked', (marked, { job }) => of(job)?.onMarked(marked));
  return { stop: () => undefined };
}
