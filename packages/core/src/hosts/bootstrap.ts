/**
 * Bootstrap: brings up agents on all hosts of an allocation (STCI paper, III-B). The error manager decides on every
 * failure; the agent that starts the host in the boot tree carries the action out. The phase ends when every host is up
 * or left out, or when the error manager ends it. Before that end, further failures are collected for a while, so that
 * they are reported together.
 */

import {
  CONTROLLER,
  StciError,
  failureId,
  rootAddress,
  sessionAddress,
  toErrorRecord,
  type ErrorRecord,
  type Failure,
  type HostIndex,
  type HostSpec,
  type SessionContext,
  type Timer,
} from '@stci/interface';
import { BootSubtree } from '../boot/boot-subtree.js';
import type { ChildFailure } from '../boot/child.js';
import { GroupStart } from '../boot/group-start.js';
import { heldTimer } from '../event/timers.js';
import { failureBy, hostFailure, type HostFailure } from '../job/exit-rule.js';
import { foldSorted } from '../job/hostset.js';
import { encodeParams } from '../launcher/boot-details.js';
import { newLogin, type HostLogin } from '../launcher/host-login.js';
import type { LossReport } from '../membership/mender.js';
import { MembershipTable } from '../membership/table.js';
import type { MessageBody } from '../messages/messages.js';
import type { BootstrapEvents, BootstrapInit } from './bootstrap-contracts.js';
import { HostRecovery } from './host-recovery.js';
import type { SessionTree } from './session-tree.js';
import { TreeMender, type TreeMenderEvents } from './tree-mender.js';

export class Bootstrap {
  readonly #init: BootstrapInit;
  readonly #events: BootstrapEvents;
  readonly tree: SessionTree;
  readonly below: BootSubtree;
  /** The only record of which hosts are there. */
  readonly table: MembershipTable;
  readonly #mender: TreeMender;
  /** Once all are up or left out. */
  mender: TreeMender | undefined;
  readonly recovery: HostRecovery;
  readonly together: GroupStart;
  readonly #failures: Failure[] = [];
  #abortReason: string | undefined;
  #phase: 'starting' | 'aborting' | 'ready' | 'over' = 'starting';
  #timer: Timer | undefined;

  constructor(init: BootstrapInit, events: BootstrapEvents, menderEvents: TreeMenderEvents) {
    this.#init = init;
    this.#events = events;
    const { node, agentLauncher, tree, snapshot, stays } = init;
    this.tree = tree;
    const hosts = init.hosts.length;
    this.below = new BootSubtree(
      {
        node,
        agentLauncher,
        treeOf: (count) => tree.treeOf(count),
        position: 0,
        logins: init.hosts.map((host, i) => newLogin(i, host, 1)),
        common: {
          hosts, tree: tree.part, params: encodeParams(snapshot),
          // Of one agent on this machine nobody but its parent's death ends the link.
          outlivesParent: stays || hosts > 1 || !agentLauncher.isLocal,
        },
      },
      {
        onUp: () => undefined,
        onFailed: (failure) => this.#report(failure),
      },
    );
    const levels = tree.treeOf(hosts).height;
    this.together = new GroupStart({ node, agentLauncher, hosts: init.hosts, levels }, {
      onExited: (host) => this.mender?.exited(host),
      onEnding: (error) => events.onEnding(error),
    });
    const { below } = this;
    this.table = new MembershipTable(below.places, init.hosts);
    below.hostCount = () => this.table.size;
    this.#mender = new TreeMender({ node, table: this.table, below, hosts: this }, menderEvents);
    this.recovery = this.#makeRecovery();
  }

  #makeRecovery(): HostRecovery {
    const { node, errorManager, spares } = this.#init;
    const { table } = this;
    return new HostRecovery({ clock: node.platform.clock, holds: node.holds, errorManager, table, spares }, {
      emit: (event) => this.#events.emit(event),
      start: (host, spec) => (this.#phase === 'ready' ? this.startHost(host, spec) : this.#restart(host, spec)),
      leaveOut: (host) => this.#phase === 'starting' && this.#leaveOut(host),
      endLaunch: (host, reason) => this.#phase === 'starting' && this.#abort(host, reason),
    });
  }

  /** Names of the hosts that are neither up nor left out. */
  get missing(): readonly string[] {
    return this.table.hosts('planned', 'starting', 'failed').map((host) => this.table.nameOf(host));
  }

  start(): void {
    this.#init.agentLauncher.ready((fault) => {
      if (this.#phase !== 'starting') return;
      for (const host of this.table.hosts()) this.table.apply(host, 'start');
      if (fault === undefined) return this.together.start(() => this.#startBelow());
      this.#fail(failureBy('agent-launch', fault, this.#wallMs));
      this.#aborted();
    });
  }

  #startBelow(): void {
    if (this.#phase === 'starting') this.below.start(this.together.hosts.map((host) => this.loginOf(host)));
  }

  /**
   * After onReady: starts the next incarnation of a host that takes no part; `spec`: the host that has the index from
   * now on. Running jobs do not get it back; later ones do.
   */
  startHost(host: HostIndex, spec: HostSpec): void {
    this.#assign(host, spec);
    this.mender?.start(host);
  }

  /** On a spare nobody waits. */
  #assign(host: HostIndex, spec: HostSpec): void {
    if (spec.name !== this.table.nameOf(host)) this.together.spend(host);
    this.table.assign(host, spec);
  }

  loginOf(host: HostIndex): HostLogin {
    const { spec, incarnation } = this.table.get(host);
    return newLogin(host, spec, incarnation, this.together.startOf(host));
  }

  /** The root agent of `host` runs. */
  onUp({ host, incarnation, socket, network }: MessageBody<'agent.up'>): void {
    const { state, incarnation: current, parent } = this.table.get(host);
    if (this.#phase === 'over' || incarnation !== current) return;
    if (this.table.isGone(host)) return this.mender?.expel(host, parent, 'its start was given up');
    if (state !== 'starting') return;
    this.together.onUp(host);
    const columns = { socket, network, upMs: this.#init.node.platform.clock.nowMs() };
    if (this.mender !== undefined) this.mender.up(host, columns);
    else this.table.apply(host, 'up', columns);
    const { spec: { name } } = this.table.get(host);
    this.#events.emit({
      type: 'host-up', host, name, up: this.table.count('up'), total: this.table.size, incarnation,
    });
    this.#check();
  }

  /** A root agent did not come up, or was up and is lost; reported by the agent that has, or had, its link. */
  onFailed(report: LossReport, error: StciError): void {
    const { host, incarnation, reporter, evidence } = report;
    const { state, incarnation: current } = this.table.get(host);
    if (this.#phase === 'over' || state === 'left' || incarnation !== current) return;
    const explained = this.together.explained(host, incarnation, error);
    if (this.#phase === 'ready') {
      if (state === 'starting') return this.mender?.onStarts((starts) => starts.fail(host, explained, reporter));
      return this.mender?.lost(report, explained);
    }
    if (state !== 'starting' && state !== 'up') return;
    this.#dropSubtree(host);
    this.together.failed(host);
    const hadLink = state === 'up' || error.code !== 'STCI_LAUNCH_FAILED';
    // The agents that it linked to have lost their parent and end: all of them must be started again.
    for (const below of this.below.hostsBelow(host)) {
      if (below === host) continue;
      const { state: stateBelow, parent, isPausing } = this.table.get(below);
      // Where nobody was linked to that host, those below it still wait.
      if (hadLink) this.together.doubt(below);
      // One that waits for its next start has it with those around it.
      if (stateBelow !== 'failed' || isPausing) this.table.renew(below, parent);
    }
    const wasUp = state === 'up';
    const failure = this.failureOf(host, 'agent-launch', toErrorRecord(explained));
    this.table.apply(host, 'fail', { evidence: error.message });
    this.#fail(failure);
    this.#events.onStartFailed(host, explained, reporter, wasUp ? evidence : undefined);
    if (this.#phase === 'aborting') {
      this.#events.onLaunchEnding(host, undefined);
      return this.#check();
    }
    this.decide('launching', wasUp ? { ...failure, kind: 'agent-lost' } : failure);
  }

  /** The failure of its agent, as it was started last. */
  failureOf(host: HostIndex, kind: 'agent-launch' | 'agent-lost', error: ErrorRecord): HostFailure {
    const failure = failureId({ kind: 'host', host, incarnation: this.table.get(host).incarnation });
    return hostFailure(kind, host, { ...error, failure }, this.#wallMs);
  }

  /** Of the launch. */
  #fail(failure: Failure): void {
    this.#failures.push(failure);
    this.#events.emit({ type: 'failure', error: failure.error });
  }

  /** The error manager decides what becomes of a host that has no agent any more, unless that has been decided. */
  decide(phase: SessionContext['phase'], failure: HostFailure): void {
    const { state, isDraining } = this.table.get(failure.host);
    if (state !== 'left' && !isDraining) this.recovery.onFailed(phase, failure);
  }

  get #wallMs(): number {
    return this.#init.node.platform.clock.wallMs();
  }

  /** The agents at and below `host` are gone: their successors know nothing of what was sent to them. */
  #dropSubtree(host: HostIndex): void {
    const { messages } = this.#init.node;
    for (const below of this.below.hostsBelow(host)) {
      messages.transport.drop(rootAddress(below));
      messages.transport.drop(sessionAddress(below));
    }
  }

  /** Ends all agents. `settle`: calls back when no agent is to be linked again; no event is reported afterwards. */
  stop(settle: (done: () => void) => void, done: () => void): void {
    if (this.#phase !== 'ready') this.#phase = 'over';
    this.#timer?.cancel();
    this.recovery.close();
    this.below.stop('the session ends', () => settle(() => this.below.stopRest(() => {
      this.#phase = 'over';
      const isLost = (host: HostIndex): boolean => {
        const { state, incarnation } = this.table.get(host);
        return state !== 'up' || incarnation > 1;
      };
      this.together.end(isLost, done);
    })));
  }

  /** Sent to this agent itself, so that it is handled after all messages from below the lost agent. */
  #report({ job, error, ...failure }: ChildFailure): void {
    const found = { ...failure, session: undefined, error: toErrorRecord(error) };
    this.#init.node.messages.send(CONTROLLER, 'agent.failed', found, job);
  }

  #restart(host: HostIndex, spec: HostSpec): void {
    if (this.#phase !== 'starting') return;
    this.#assign(host, spec);
    this.#mender.onStarts((starts) => starts.restart(host));
  }

  #leaveOut(host: HostIndex): void {
    if (this.table.count('up', 'starting') === 0) return this.#abort(host, 'no host is left');
    this.#mender.onStarts((starts) => starts.leaveOut(host));
    this.#check();
  }

  /** Further failures may be on their way: they are collected and reported together. */
  #abort(host: HostIndex, reason: string | undefined): void {
    this.#phase = 'aborting';
    this.#abortReason = reason;
    this.#events.onLaunchEnding(host, reason);
    const collectMs = this.#init.node.params.int('errmgr.launch.collect');
    const { holds, platform: { clock } } = this.#init.node;
    this.#timer = heldTimer(holds, clock, 'further failures', collectMs, () => this.#aborted());
    this.#check();
  }

  #aborted(): void {
    this.#timer?.cancel();
    this.#phase = 'ready';
    // Below one that failed, nobody has tried the others.
    for (const { host, error } of this.together.failures()) {
      this.#fail(this.failureOf(host, 'agent-launch', toErrorRecord(error)));
    }
    const fail = (text: string): void =>
      this.#fail(failureBy('agent-launch', new StciError('STCI_LAUNCH_FAILED', text), this.#wallMs));
    const isTried = (host: HostIndex): boolean => this.together.hosts.includes(host) || !this.#isBelowFailed(host);
    const untried = this.table.hosts('planned', 'starting').filter((host) => !isTried(host));
    const names = foldSorted(untried.map((host) => this.table.nameOf(host)));
    if (untried.length > 0) fail(`${names}: not tried, because the agents that were to start them did not come up`);
    if (this.#abortReason !== undefined) fail(`The launch was ended: ${this.#abortReason}`);
    this.#events.onAborted(this.#failures);
  }

  #check(): void {
    if (this.#phase === 'aborting') {
      // Hosts below a failed one cannot come up: there is no result to wait for.
      if (this.table.hosts('starting').every((host) => this.#isBelowFailed(host))) this.#aborted();
    } else if (this.#phase === 'starting') {
      if (this.table.count('up', 'left') < this.table.size) return;
      this.#phase = 'ready';
      this.mender = this.#mender;
      this.#events.onReady();
    }
  }

  #isBelowFailed(host: HostIndex): boolean {
    let at = this.table.plannedParent(host);
    while (at !== undefined && this.table.get(at).state !== 'failed') at = this.table.plannedParent(at);
    return at !== undefined;
  }
}
