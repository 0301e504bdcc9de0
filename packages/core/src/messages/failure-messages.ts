/** Message types of failures: of detectors and notifiers, of who was told, of what the controller decides. */

import { BODY_BYTES_MAX, members, name } from '../codec/bounds.js';
import { any, bool, fields, oneOf, optional, tuple, u32, wallTime } from '../codec/shape.js';
import { collected } from './collected.js';
import { evidence, failureId, memberId, toolEvidence } from './failure-shapes.js';

/** When an agent was told of failures. */
const seen = members(tuple(failureId, wallTime));

export const FAILURE_MESSAGES = {
  /** Detector → the one of the same name at another agent. `incarnation`: of the sender. */
  'detector.message': {
    id: 70, from: ['root', 'controller'], body: fields({ detector: name, incarnation: u32, body: any(BODY_BYTES_MAX) }),
  },
  /** Notifier → the one of the same name at another agent. */
  'notifier.message': {
    id: 71, from: ['root', 'controller'], body: fields({ notifier: name, incarnation: u32, body: any(BODY_BYTES_MAX) }),
  },
  /** Root agent → its session agents, neighbours: what has failed. */
  'failure.notice': { id: 72, from: 'parent', body: fields({ notice: evidence }) },
  /** Session agent → its root agent: ranks that have failed. */
  'failure.report': { id: 73, from: ['session'], body: fields({ ranks: members(toolEvidence) }) },
  /** Root agent → controller: a detector there suspects this agent, and may report it soon. */
  'failure.suspected': { id: 89, from: ['root'], body: fields({ member: memberId }) },
  /** Root agent → controller: when it was told of these failures, by their ids; agents among them. */
  'failure.seen': {
    id: 74, from: ['root'], body: fields({ seen, members: members(memberId) }),
  },
  /** What `failure.seen` will say, before its time. */
  'failure.told': { id: 79, ...collected('roots', seen) },
  /**
   * Controller → root agents: in their order, who is dead, and is told so itself; lives all the same; has left the
   * session; or takes part, as another incarnation.
   */
  'failure.changes': {
    id: 75,
    from: ['controller'],
    body: fields({
      changes: members(fields({
        member: memberId, change: oneOf('dead', 'refuted', 'left', 'joined'), notice: optional(evidence),
      })),
    }),
  },
  /**
   * Controller → root agent: watch these members. `[position, count, incarnation]` of each run of positions with the
   * same incarnation.
   */
  'failure.watch': { id: 77, from: ['controller'], body: fields({ members: members(tuple(u32, u32, u32)) }) },
  /** Session agent → its root agent → controller: programs of the job want to know at once what fails anywhere. */
  'failure.interest': { id: 78, from: ['session', 'root'], body: fields({}) },
  /** Session agent → its root agent: the hosts that ranks here wait for from now on; `all`: every one. */
  'failure.awaited': { id: 76, from: ['session'], body: fields({ hosts: members(u32), all: bool }) },
} as const;
