/** What `stci topology` shows of a running session. */

import { members, name, text } from '../codec/bounds.js';
import { bool, fields, num, oneOf, optional, u32, type Infer } from '../codec/shape.js';

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

const agentLinks = fields({
  /** `controller`, `root:3`. */
  agent: name,
  /** Name of its host; none for the controller. */
  host: optional(name),
  /** Absent: it did not answer, or not yet. */
  links: optional(members(linkReport)),
});
export type AgentLinks = Infer<typeof agentLinks>;

export const topologyReport = fields({
  /** Number of this survey. */
  survey: u32,
  /** All have answered, or had the time to. */
  isDone: bool,
  /** Of the overlay, as it was asked for; empty: none. */
  overlay: text,
  agents: members(agentLinks),
});
export type TopologyReport = Infer<typeof topologyReport>;
