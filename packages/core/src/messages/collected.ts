/** Collections: what agents contribute comes up the boot tree to the controller (streams/collects.ts). */

import { JOB_MAX, type Address, type JobId } from '@stci/interface';
import { members } from '../codec/bounds.js';
import { fields, integer, tuple, u32, type Shape } from '../codec/shape.js';

/** An agent; of a session agent with its job, else with 0. */
export type AgentOfJob = readonly [agent: Address, job: JobId];

/** How long the controller waits at most for a collection. */
const WITHIN_MS_MAX = 60_000;

const time = integer(0, WITHIN_MS_MAX);

/** How long the parent waits, and by how much less each agent waits for those below it. */
const body = fields({ withinMs: time, stepMs: time });

/**
 * The row of a collection, but for its number: a request, parent → child. Its answer has what the agents at and below
 * the child contribute, in parts where that is much. `collects`: from root agents; or from session agents, too, of the
 * job that it is about, and of all jobs if it is about none.
 */
export function collected<Whom extends 'roots' | 'all', T>(collects: Whom, item: Shape<T>) {
  const contributions = members(tuple(u32, integer(0, JOB_MAX), item));
  return { from: 'parent', collects, body, part: contributions, reply: contributions } as const;
}
