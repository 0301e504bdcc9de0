/**
 * Starts of hosts while a session runs, at the controller: hosts that are added, and hosts that were lost, again. The
 * nearest connected agent above in the planned tree starts the next incarnation; a host whose planned parent is itself
 * being started waits for it, so that many hosts come up along the tree. The new agent starts none below it: those
 * have links elsewhere, and a mend may link them to it later.
 */

import {
  StciError, rootAddress, sessionAddress, type HostIndex, type Timer,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import type { BootSubtree } from '../boot/boot-subtree.js';
import type { HostLogin } from '../launcher/host-login.js';
import { startMsMax } from '../launcher/start-pace.js';
import type { MemberChange } from '../membership/member.js';
import type { MembershipTable, ParentHost } from '../membership/table.js';
import type { AgentNode } from '../node/node.js';
import { startCause, type StartFailure } from './loss-notices.js';

/** For each host that is being started, because one agent starts only some at a time. */
const PER_HOST_MS = 500;

/** Called once: without an error, its agent runs. */
export type HostStarted = (error: StciError | undefined) => void;

export interface HostStartsInit {
  readonly node: AgentNode;
  readonly table: MembershipTable;
  readonly below: BootSubtree;
  loginOf(host: HostIndex): HostLogin;
  /** It has a parent, and is about to be started. */
  onStarting(host: HostIndex): void;
  /** Its agent did not come up. */
  onFailed(failure: StartFailure): void;
  /** The agent of `parent` is to end a start that is given up. */
  onGivenUp(host: HostIndex, parent: ParentHost): void;
}

interface Start {
  readonly done: HostStarted;
  /** Undefined: it waits for its planned parent. */
  timer: Timer | undefined;
}

export class HostStarts {
  readonly #init: HostStartsInit;
  readonly #starts = new Map<HostIndex, Start>();

  constructor(init: HostStartsInit) {
    this.#init = init;
  }

  has(host: HostIndex): boolean {
    return this.#starts.has(host);
  }

  /** The host is in the table, and none of its agents takes part. */
  start(host: HostIndex, done: HostStarted): void {
    this.#starts.set(host, { done, timer: undefined });
    // Others may be asked for in the same turn, among them its planned parent.
    this.#init.node.platform.clock.soon(() => this.#advance());
  }

  onUp(host: HostIndex, columns: MemberChange): void {
    const { node, table } = this.#init;
    table.apply(host, 'up', columns);
    // From now on it waits for another parent when it loses its own.
    node.messages.send(rootAddress(host), 'session.ready', {});
    this.#settle(host, undefined);
  }

  /** It did not come up, or its parent was lost meanwhile. */
  fail(host: HostIndex, error: StciError, reporter: ParentHost): void {
    const { table, onFailed } = this.#init;
    if (table.get(host).state === 'starting') onFailed({ host, reporter, cause: startCause(error), error });
    this.#end(host, error);
  }

  /** Ends a start that is not wanted any more. */
  giveUp(host: HostIndex, error: StciError): void {
    const { table, onGivenUp } = this.#init;
    const { state, parent } = table.get(host);
    this.#end(host, error);
    if (state === 'starting') onGivenUp(host, parent);
  }

  /** The session stops: all agents are ended. */
  close(error: StciError): void {
    const starts = [...this.#starts.values()];
    this.#starts.clear(); // What waits for another start does not begin.
    for (const { timer, done } of starts) {
      timer?.cancel();
      done(error);
    }
  }

  #end(host: HostIndex, error: StciError): void {
    const { table } = this.#init;
    if (table.get(host).state === 'starting') table.apply(host, 'fail', { evidence: error.message });
    this.#settle(host, error);
  }

  #settle(host: HostIndex, error: StciError | undefined): void {
    const start = this.#starts.get(host);
    if (start === undefined) return;
    this.#starts.delete(host);
    start.timer?.cancel();
    start.done(error);
    this.#advance();
  }

  #advance(): void {
    for (const [host, start] of this.#starts) {
      const above = this.#init.table.plannedParent(host);
      if (start.timer === undefined && (above === undefined || !this.#starts.has(above))) this.#begin(host, start);
    }
  }

  #begin(host: HostIndex, start: Start): void {
    const { node, table, below, onStarting } = this.#init;
    const parent = table.connectedAncestors(host)[0];
    table.apply(host, 'plan', { parent });
    table.apply(host, 'start');
    node.messages.drop(rootAddress(host));
    node.messages.drop(sessionAddress(host));
    onStarting(host);
    const waitMs = startMsMax(node.params.int('launcher.handshake')) + PER_HOST_MS * this.#starts.size;
    start.timer = node.platform.clock.after(waitMs, () => this.#onOverdue(host, waitMs));
    const login = this.#init.loginOf(host);
    if (parent === undefined) below.startLate(login);
    else node.messages.send(rootAddress(parent), 'tree.start', { login });
  }

  #onOverdue(host: HostIndex, waitMs: number): void {
    const name = this.#init.table.nameOf(host);
    const text = `The agent of host ${name} was not up after ${formatDuration(waitMs)}`;
    const error = new StciError('STCI_LAUNCH_FAILED', text, { host: name });
    this.#init.onFailed({ host, reporter: undefined, cause: startCause(error), error });
    this.giveUp(host, error);
  }
}
