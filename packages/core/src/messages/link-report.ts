/** Links of agents, as `stci topology` shows them. */

import { members, name } from '../codec/bounds.js';
import { fields, num, oneOf, optional, type Infer } from '../codec/shape.js';

/** A link as one of its ends sees it. */
export const linkReport = fields({
  /** Name of the agent at the other end: `root:3`. */
  peer: name,
  kind: name,
  /** What the peer is to the agent. */
  role: oneOf('parent', 'child', 'overlay'),
  state: oneOf('connecting', 'up', 'suspect', 'closed'),
  inStateMs: num,
  /** Absent: no answer in time. */
  roundTripMs: optional(num),
});
export type LinkReport = Infer<typeof linkReport>;

export const agentLinks = fields({
  /** `controller`, `root:3`. */
  agent: name,
  /** Name of its host; none for the controller. */
  host: optional(name),
  /** Absent: it did not answer. */
  links: optional(members(linkReport)),
});
export type AgentLinks = Infer<typeof agentLinks>;
