/** What the controller's failures are made from, and the arbiter, which is loaded where detectors watch agents. */

import type { Evidence, FailureRecord, HostIndex, MemberEvent, MemberId } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import type { Declared } from '../membership/mender.js';
import type { MembershipTable } from '../membership/table.js';
import type { AgentNode } from '../node/node.js';
import type { Overlay } from '../peers/contracts.js';
import type { ServiceScope } from '../service/contracts.js';
import type { FailureLog } from './failure-log.js';

export interface ControllerFailuresInit {
  readonly node: AgentNode;
  /** Until the session ends: whoever goes then is no failure. */
  readonly holds: Scope;
  readonly scope: ServiceScope;
  readonly overlay: Overlay;
  /** Once the session has been opened. */
  table(): MembershipTable | undefined;
  hostName(host: HostIndex): string;
  /** The host's agent is given up, for this reason. */
  declare(host: HostIndex, incarnation: number, declared: Declared): void;
  /** To the jobs that it concerns. */
  onRecord(record: FailureRecord): void;
  /** To all jobs. */
  emit(event: MemberEvent): void;
}

/** The first of these has the arbiter loaded. */
export const ARBITER_MESSAGES = [
  'failure.interest', 'failure.seen', 'failure.suspected', 'detector.message', 'notifier.message',
] as const;

export interface ArbiterInit extends Omit<ControllerFailuresInit, 'table' | 'onRecord'> {
  table(): MembershipTable;
  readonly log: FailureLog;
  /** All hosts are up or left out, and the session does not end. */
  isOpen(): boolean;
  memberOf(host: HostIndex): MemberId;
  record(notice: Evidence): void;
}
