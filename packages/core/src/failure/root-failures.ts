/**
 * Failures at a root agent: the watch of its detectors, once the controller has named the members; what its session
 * agents report of their tools; and the star, which tells them of what failed elsewhere.
 */

import {
  CONTROLLER, addressIndex, rootAddress, sessionAddress, failureId, type Evidence, type FailedSubject, type FailureId,
  type HostIndex, type JobId, type MemberId, type Position,
} from '@stci/interface';
import { Timers } from '../event/timers.js';
import { addressAt, membersOf } from '../members/positions.js';
import type { ToolEvidence } from '../messages/failure-shapes.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { Overlay } from '../peers/contracts.js';
import { probeMs } from '../peers/probe-time.js';
import type { OpenService, ServiceScope } from '../service/contracts.js';
import { bindFailureWatch, openFailureWatch, startFailureWatch } from './failure-watch.js';
import { memberOf } from './notice.js';
import type { FailureWatch } from './watch.js';

/** When the controller learns that this agent was told: after all have been told, and many at once; or it collects. */
const SEEN_MS = 250;

/** Kind of wait: of ranks of this host, for those of another or of all. */
const WAIT = 'ranks of job';

type Seen = readonly [subject: FailedSubject, wallMs: number];

export interface RootFailuresInit {
  readonly node: AgentNode;
  readonly scope: ServiceScope;
  readonly overlay: Overlay;
  /** Jobs that have a session agent here. */
  jobs(): Iterable<JobId>;
  /** This agent is dead to the others. */
  fence(reason: string): void;
  /** This agent does not hear the controller: its parent's link is of no use. */
  cutOff(reason: string): void;
  /** Nor where its parent is dead, whose link may be open still: another agent may link to this one. */
  parentGone(): void;
}

export class RootFailures implements OpenService {
  readonly isLast = true;
  readonly #init: RootFailuresInit;
  readonly #host: HostIndex;
  #watch: FailureWatch | undefined;
  /** Jobs whose programs here want to know. */
  #interested = new Set<JobId>();
  /** By job, the hosts that its ranks here wait for. */
  readonly #awaited = new Map<JobId, ReadonlySet<HostIndex | 'all'>>();
  /** What this agent was told of since the controller was told so, and when. */
  #seen: Seen[] = [];
  /** By position: the controller asks about a suspicion of this member. */
  readonly #timers: Timers<'seen' | Position>;

  constructor(init: RootFailuresInit) {
    this.#init = init;
    const { messages, identity } = init.node;
    this.#host = addressIndex(identity.self);
    this.#timers = new Timers(init.node.platform.clock, init.node.holds);
    messages.on('failure.watch', ({ members }) => this.#start(membersOf(members)));
    messages.on('failure.interest', (_body, { job }) => this.#onInterest(job));
    messages.on('failure.awaited', (awaited, { job }) => this.#onAwaited(job, awaited));
    init.node.collects.on('failure.told', () => seenOf(this.#seen));
    messages.on('failure.changes', ({ changes }) => changes.forEach((change) => this.#watch?.onChange(change)));
    bindFailureWatch(init.node, () => this.#watch);
  }

  onSessionEnding(): void {
    this.stop();
  }

  /** The session, or this agent, ends: whoever goes now is no failure. */
  stop(): void {
    this.#watch?.stop();
    this.#timers.close();
  }

  /** The parent is linked again. */
  onMended(): void {
    this.#watch?.onLinked();
  }

  onToolsFailed(job: JobId, ranks: readonly ToolEvidence[]): void {
    for (const { rank, attempt, ...found } of ranks) {
      this.#watch?.report({ ...found, subject: { kind: 'tool', host: this.#host, job, rank, attempt } });
    }
  }

  onSessionGone(job: JobId): void {
    this.#await(job, new Set());
  }

  #start(members: readonly MemberId[]): void {
    const { node, scope, overlay, fence, cutOff, parentGone } = this.#init;
    if (this.#watch !== undefined) return;
    this.#watch = openFailureWatch(node, scope, overlay, {
      onSuspected: (member) => this.#onSuspected(member),
      onNotice: (notice, news) => news === 'new' && this.#onNotice(notice),
      onFenced: fence,
      onCutOff: cutOff,
    });
    startFailureWatch(node, scope, this.#watch, members);
    overlay.members.observe(({ member: { position }, state }) => {
      if (state === 'reported' && node.router.parentLink?.peer === addressAt(position)) parentGone();
    });
  }

  /** A link may come and go faster than the controller asks. */
  #onSuspected(member: MemberId): void {
    const { messages, params } = this.#init.node;
    if (this.#timers.has(member.position)) return;
    this.#timers.set(member.position, probeMs(params), () => undefined);
    messages.send(CONTROLLER, 'failure.suspected', { member });
  }

  /** All agents tell each other from now on; until then the controller tells. */
  #onInterest(job: JobId): void {
    const { node, jobs } = this.#init;
    this.#interested = new Set([...jobs()].filter((each) => each === job || this.#interested.has(each)));
    node.messages.send(CONTROLLER, 'failure.interest', {});
  }

  #onAwaited(job: JobId, { hosts, all }: MessageBody<'failure.awaited'>): void {
    // It may come after the job's end.
    if ([...this.#init.jobs()].includes(job)) this.#await(job, new Set(all ? [...hosts, 'all'] : hosts));
  }

  #await(job: JobId, awaited: ReadonlySet<HostIndex | 'all'>): void {
    const { waits } = this.#init.node.messages;
    const before = this.#awaited.get(job) ?? new Set();
    const numberOf = (on: HostIndex | 'all'): string => `${job} ${on}`;
    for (const on of before) if (!awaited.has(on)) waits.end(WAIT, numberOf(on));
    for (const on of awaited) if (!before.has(on)) waits.begin(WAIT, numberOf(on), on === 'all' ? on : rootAddress(on));
    if (awaited.size === 0) this.#awaited.delete(job);
    else this.#awaited.set(job, awaited);
  }

  #onNotice(notice: Evidence): void {
    const { node } = this.#init;
    const { subject } = notice;
    for (const job of this.#interested) {
      const link = node.router.link(sessionAddress(this.#host), job);
      const isOfJob = subject.kind === 'host' || subject.job === job;
      if (isOfJob && link !== undefined) node.messages.sendNeighbour(link, 'failure.notice', { notice }, job);
    }
    this.#seen.push([subject, node.platform.clock.wallMs()]);
    this.#timers.ensure('seen', SEEN_MS, () => this.#tellSeen());
  }

  #tellSeen(): void {
    const { node, overlay } = this.#init;
    const told = this.#seen.splice(0);
    // Of the others the controller has decided.
    const members = told.flatMap(([subject]) => memberOf(subject) ?? [])
      .filter((member) => overlay.members.stateOf(member) === 'reported');
    node.messages.send(CONTROLLER, 'failure.seen', { seen: seenOf(told), members });
  }
}

function seenOf(told: readonly Seen[]): [FailureId, number][] {
  return told.map(([subject, wallMs]) => [failureId(subject), wallMs]);
}
