/**
 * Starts of agents. In a launch each agent starts those below it, and the next incarnation of one that failed is
 * started with those below it, as are those below a host that is left out. While the session runs, the nearest
 * connected agent above in the planned tree starts a host that was added, or that was lost. One whose planned parent is
 * itself being started waits for it, so that many hosts come up along the tree. Its agent starts none below it: those
 * have links elsewhere, and a mend may link them to it later. Such a start is a column of its host's row. Pure.
 */

import { StciError, assert, type HostIndex } from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { DueTimes } from '../event/due-times.js';
import { startMsMax } from '../launcher/start-pace.js';
import type { ParentHost } from './member.js';
import type { MembershipTable } from './table.js';

/** For each host that is being started, because one agent starts only some at a time. */
const PER_HOST_MS = 500;

export type StartAction =
  /** The agent of `by` is to start that of `host`, and unless `isLate` those below it. */
  | { readonly type: 'start'; readonly by: ParentHost; readonly host: HostIndex; readonly isLate: boolean }
  /** `isFailure`: it did not come up, as `reporter` says; else it was wanted no more. */
  | {
      readonly type: 'unstarted';
      readonly host: HostIndex;
      readonly error: StciError;
      readonly isFailure: boolean;
      readonly reporter: ParentHost;
    }
  /** `by` is to close its link to the agent of `host`, of an incarnation that was given up, or to end its start. */
  | { readonly type: 'expel'; readonly by: ParentHost; readonly host: HostIndex };

export class HostStarts {
  readonly #table: MembershipTable;
  readonly #startMsMax: number;
  /** In the order in which they were asked for; some may be over. */
  readonly #hosts = new Set<HostIndex>();
  readonly #due = new DueTimes<HostIndex>();

  constructor(table: MembershipTable, handshakeMs: number) {
    this.#table = table;
    this.#startMsMax = startMsMax(handshakeMs);
  }

  get dueMs(): number | undefined {
    return this.#due.firstMs;
  }

  /** While the session comes up: started by the nearest above that has not left, with those below it. */
  restart(host: HostIndex): StartAction[] {
    const by = this.#table.starterOf(host);
    this.#table.renew(host, by);
    return [{ type: 'start', by, host, isLate: false }];
  }

  /** While the session comes up: the nearest above that has not left starts those below it. */
  leaveOut(host: HostIndex): StartAction[] {
    this.#table.apply(host, 'leave');
    return this.#table.children(host).flatMap((child) => this.restart(child));
  }

  /** It is due at once, and not begun: others may be asked for in the same turn, among them its planned parent. */
  ask(host: HostIndex, nowMs: number): void {
    if (this.#table.get(host).start !== undefined) return;
    assert(this.#table.isGone(host), 'a host is started again when it is gone');
    this.#table.note(host, { start: { waitMs: undefined }, isPausing: false });
    this.#hosts.add(host);
    this.#due.set(host, nowMs);
  }

  /** It did not come up, as `reporter` says. */
  fail(host: HostIndex, error: StciError, reporter: ParentHost): StartAction[] {
    if (this.#table.get(host).start?.waitMs === undefined) return [];
    this.#table.apply(host, 'fail', { evidence: error.message });
    return [{ type: 'unstarted', host, error, isFailure: true, reporter }];
  }

  /** It is not wanted any more. */
  giveUp(host: HostIndex, error: StciError): StartAction[] {
    const { start, parent } = this.#table.get(host);
    if (start === undefined) return [];
    const ended = { type: 'unstarted', host, error, isFailure: false, reporter: undefined } as const;
    if (start.waitMs === undefined) {
      this.#table.note(host, { start: undefined });
      return [ended];
    }
    this.#table.apply(host, 'fail', { evidence: error.message });
    return [ended, { type: 'expel', by: parent, host }];
  }

  /** No host is started any more. */
  close(): void {
    for (const host of this.#hosts) this.#table.note(host, { start: undefined });
    this.#forgetEnded();
  }

  /** Those that take too long end, and those begin that wait for no other. */
  advance(nowMs: number): StartAction[] {
    const late = this.#due.take(nowMs).flatMap((host) => this.#onDue(host));
    this.#forgetEnded();
    return [...late, ...[...this.#hosts].flatMap((host) => this.#begin(host, nowMs))];
  }

  #forgetEnded(): void {
    for (const host of this.#hosts) {
      if (this.#table.get(host).start !== undefined) continue;
      this.#hosts.delete(host);
      this.#due.delete(host);
    }
  }

  #onDue(host: HostIndex): StartAction[] {
    const { start, parent: by, spec: { name } } = this.#table.get(host);
    if (start?.waitMs === undefined) return [];
    const text = `The agent of host ${name} was not up after ${formatDuration(start.waitMs)}`;
    const error = new StciError('STCI_LAUNCH_FAILED', text, { host: name });
    return [...this.fail(host, error, undefined), { type: 'expel', by, host }];
  }

  #begin(host: HostIndex, nowMs: number): StartAction[] {
    const table = this.#table;
    const above = table.plannedParent(host);
    const { start } = table.get(host);
    const isWaiting = above !== undefined && table.get(above).start !== undefined;
    if (start === undefined || start.waitMs !== undefined || isWaiting) return [];
    const by = table.connectedAncestors(host)[0];
    const waitMs = this.#startMsMax + PER_HOST_MS * this.#hosts.size;
    table.apply(host, 'plan', { parent: by, start: { waitMs } });
    table.apply(host, 'start');
    this.#due.set(host, nowMs + waitMs);
    return [{ type: 'start', by, host, isLate: true }];
  }
}
