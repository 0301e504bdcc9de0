/**
 * Child supervisor: an agent starts others, watches them and ends them. A window bounds the number of concurrent
 * starts, and a watch gives up a start that makes no progress; both adapt to how long starts take here. Each failure of
 * a child is reported once, with the host, the phase, and the last lines that the child wrote.
 */

import {
  StciError, addressName, agentKey, assert, type Address, type AgentProcess, type AgentProcessEnd, type
  AgentProcessEvents, type Channel, type JobId, type LinkCloseReason,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import type { Link } from '../bootcom/link.js';
import { Timers, heldTimer } from '../event/timers.js';
import { StartPace } from '../launcher/start-pace.js';
import type { AdoptionAnswer } from '../membership/mender.js';
import type { AgentNode } from '../node/node.js';
import { adopt } from './adoption.js';
import { LINK_PATIENCE, openChildChannel, type ChildChannelInit } from './child-channel.js';
import {
  change, childFailure, describeExit, evidenceOf, isToldByLink, keepLine, keyOf, nameOf, newChild, relayedDiagnostic,
  type Child, type ChildFailure, type ChildSpec,
} from './child.js';
import { StartWatch } from './start-watch.js';

/** How long the end of a child is awaited after SIGKILL. */
const KILL_WAIT_MS = 1000;

export interface SupervisorInit {
  readonly node: AgentNode;
  /** Concurrent starts of children; at least 1. */
  readonly window: number;
  /** Longest time without progress during a start; see StartPace. */
  readonly handshakeMs: number;
  readonly stopMs: number;
  /** True if the channel that came with the start is the boot link; false if the child connects to this agent. */
  readonly nativeLink: boolean;
  readonly archiveOf?: ChildChannelInit['archiveOf'];
  /** False if a child whose link is lost may be linked to another agent. */
  readonly endsLostChildren: boolean;
}

export interface SupervisorEvents {
  onUp(address: Address, job: JobId): void;
  /** A child did not come up; or it was up, and ended or became unreachable without having been asked to stop. */
  onFailed(failure: ChildFailure): void;
}

export class ChildSupervisor {
  readonly #init: SupervisorInit;
  readonly #events: SupervisorEvents;
  /** By the agent's key. */
  readonly #children = new Map<number, Child>();
  /** Earlier starts of the same agents that failed, and whose processes or links have not ended yet. */
  readonly #former = new Set<Child>();
  readonly #waiting: Child[] = [];
  readonly #pace: StartPace;
  #starting = 0;
  #scheduled = false;
  #stopping = false;
  #onStopped: (() => void) | undefined;
  readonly #timers: Timers<'stop'>;

  constructor(init: SupervisorInit, events: SupervisorEvents) {
    this.#init = init;
    this.#events = events;
    this.#pace = new StartPace({ windowMax: init.window, handshakeMs: init.handshakeMs });
    this.#timers = new Timers(init.node.platform.clock, init.node.holds);
  }

  /** Names of the children that have not ended. */
  get alive(): string[] {
    return this.#all().filter(({ state }) => state !== 'gone' && state !== 'lost').map(({ spec }) => nameOf(spec));
  }

  launch(specs: readonly ChildSpec[]): void {
    for (const spec of specs) {
      assert(!this.#children.has(keyOf(spec)), `${addressName(spec.address)} is started once`);
      const child = newChild(spec, 'waiting');
      this.#children.set(keyOf(spec), child);
      this.#waiting.push(child);
    }
    this.#schedule();
  }

  /** As `launch`, for children that may have been started before; this start, if it has not failed, stays as it is. */
  relaunch(spec: ChildSpec): void {
    const former = this.#children.get(keyOf(spec));
    if (former?.reported === false && former.spec.incarnation === spec.incarnation) return;
    this.#retire(spec);
    this.#children.delete(keyOf(spec));
    if (!this.#stopping) this.launch([spec]);
  }

  /** Links to an agent that runs already; `connect` connects to its socket. */
  adopt(
    spec: ChildSpec,
    deadlineMs: number,
    connect: (events: AgentProcessEvents) => AgentProcess,
    done: (answer: AdoptionAnswer) => void,
  ): void {
    const former = this.#children.get(keyOf(spec));
    if (former?.state === 'up' && former.spec.incarnation === spec.incarnation) return done({ result: 'adopted' });
    if (former?.spec.incarnation !== spec.incarnation) this.#retire(spec);
    const child: Child = { ...newChild(spec, 'adopting'), exited: false, linkClosed: false };
    this.#former.add(child);
    adopt(this.#init.node, child, deadlineMs, connect, {
      onUp: (link) => {
        this.#former.delete(child);
        if (former?.process !== undefined && !former.exited) child.origin = former.process;
        this.#children.set(keyOf(spec), child);
        this.#onUp(child, link);
      },
      onClosed: (_link, reason, text) => this.#onLinkClosed(child, reason, text),
      onExit: () => this.#settle(child),
      onAnswer: (answer) => {
        done(answer);
        if (answer.result !== 'adopted' && this.#former.delete(child)) this.#checkStopped();
      },
    });
  }

  /** Another start takes the place of those of the same agent, also of one that is just being linked. */
  #retire(spec: ChildSpec): void {
    const [former, reason] = [this.#children.get(keyOf(spec)), 'another start takes its place'];
    for (const each of this.#former) {
      if (each.state === 'adopting' && each.spec.address === spec.address) this.#stopChild(each, reason);
    }
    if (former === undefined) return;
    former.reported = true;
    this.expel(spec.address, reason, spec.job);
    if (former.state !== 'gone') this.#former.add(former);
  }

  /** Returns why `peer` may not link to this agent as a child, or undefined if it may. */
  admit(peer: Address, incarnation: number, job: JobId): string | undefined {
    const child = this.#child(peer, job);
    if (child === undefined) return 'it is no child of this agent';
    if (child.spec.incarnation !== incarnation) return 'it belongs to an earlier start, which was given up';
    return child.state === 'starting' ? undefined : `it is ${child.state}`;
  }

  owns(peer: Address, job: JobId): boolean {
    return this.#child(peer, job) !== undefined;
  }

  /** A child that connected to the listener is authenticated. */
  acceptLink(link: Link): void {
    this.#onUp(this.#child(link.peer, link.job) as Child, link);
  }

  /** The link of such a child has closed. */
  linkClosed(link: Link, reason: LinkCloseReason, text: string): void {
    const child = this.#all().find((each) => each.link === link);
    if (child !== undefined) this.#onLinkClosed(child, reason, text);
  }

  /** Closes the link of a child that is up, which is then lost for this reason; ends one that is lost, or starts. */
  expel(address: Address, reason: string, job: JobId = 0): void {
    const child = this.#child(address, job);
    if (child?.state === 'up') child.link?.destroy(reason, 'protocol');
    else if (child?.state === 'lost') this.#end(child);
    else this.release(address, job, reason);
  }

  /** Ends one child, which is not needed any more; by force at the deadline. */
  release(address: Address, job: JobId, reason: string): void {
    const child = this.#child(address, job);
    if (child === undefined) return;
    if (child.state === 'waiting') this.#waiting.splice(this.#waiting.indexOf(child), 1);
    this.#children.delete(keyOf(child.spec));
    child.reported = true;
    this.#stopChild(child, reason);
    if (child.state === 'gone') return;
    this.#former.add(child);
    const { node, stopMs } = this.#init;
    const what = `end of ${nameOf(child.spec)}`;
    child.endTimer = heldTimer(node.holds, node.platform.clock, what, stopMs, () => this.#overdue(child));
  }

  /** Closes the links of children that are up, so that others link to them, and ends the rest. */
  abandon(reason: string): void {
    for (const child of this.#all()) {
      if (child.state === 'up') child.link?.destroy(reason);
      else this.#stopChild(child, reason);
    }
  }

  /** Ends all children; calls `done` once, when none is left or the rest was killed at the deadline. */
  stop(reason: string, done: () => void): void {
    assert(!this.#stopping, 'children are stopped once');
    this.#stopping = true;
    this.#waiting.length = 0;
    for (const child of this.#all()) this.#stopChild(child, reason);
    this.stopRest(done);
  }

  /** Calls `done` when the children that were adopted since `stop` have ended, too. */
  stopRest(done: () => void): void {
    this.#onStopped = done;
    this.#timers.set('stop', this.#init.stopMs, () => this.#killRest());
    this.#checkStopped();
  }

  #child(address: Address, job: JobId): Child | undefined {
    return this.#children.get(agentKey(address, job));
  }

  #schedule(): void {
    if (this.#scheduled || this.#stopping || this.#waiting.length === 0) return;
    this.#pace.onCpuTimes(this.#init.node.platform.env.cpuTimes());
    if (this.#starting >= this.#pace.window) return;
    this.#scheduled = true;
    // One start per turn: a start blocks this process for the time of a fork.
    this.#init.node.platform.clock.soon(() => {
      this.#scheduled = false;
      const child = this.#stopping ? undefined : this.#waiting.shift();
      if (child !== undefined) this.#start(child);
      this.#schedule();
    });
  }

  #start(child: Child): void {
    const { node, handshakeMs, nativeLink, archiveOf } = this.#init;
    change(child, 'start');
    child.exited = false;
    this.#starting += 1;
    const { address } = child.spec;
    const process = child.spec.start({
      onError: (error) => node.linkFaults.whenHeard(address, () => {
        child.exited = true;
        this.#fail(child, error.message, { ...error.data, cause: error.code });
        this.#settle(child);
      }),
      onDiagnostic: (line) => {
        keepLine(child, line);
        node.platform.log.write(...relayedDiagnostic(child.spec, line));
      },
      onExit: (end) => node.linkFaults.whenHeard(address, () => this.#onExit(child, end)),
    });
    child.process = process;
    const channel = node.linkFaults.channel(address, process.channel);
    openChildChannel(node, child, channel, { nativeLink, handshakeMs: this.#pace.allowanceMs, archiveOf }, {
      onLink: (ready) => this.#makeLink(child, ready),
      onFailed: (text) => {
        this.#fail(child, text);
        this.#settle(child);
      },
    });
    child.watch = new StartWatch({
      clock: node.platform.clock, pace: this.#pace, handshakeMs,
      mark: () => `${process.phase} ${child.transfer?.queuedBytes} ${child.link?.facts.bytesIn}`,
      onOverdue: (startMs) => {
        const reached = process.phase === undefined ? '' : `; it got as far as phase ${process.phase}`;
        this.#fail(child, `no handshake within ${formatDuration(startMs)} (launcher.handshake)${reached}`);
      },
    });
  }

  #makeLink(child: Child, channel: Channel): void {
    const admit = (peer: Address, start: number, job: JobId): string | undefined =>
      agentKey(peer, job) === keyOf(child.spec) ? this.admit(peer, start, job) : 'it was started as another agent';
    child.linkClosed = false;
    child.link = this.#init.node.acceptLink(channel, LINK_PATIENCE * this.#pace.startMsMax, admit, {
      onUp: (link) => this.#onUp(child, link),
      onClosed: (_link, reason, text) => this.#onLinkClosed(child, reason, text),
    });
  }

  #onUp(child: Child, link: Link): void {
    child.watch?.up();
    child.link = link;
    child.linkClosed = false;
    if (child.state === 'starting') this.#started();
    change(child, 'up');
    if (this.#stopping) this.#stopChild(child, 'stopping');
    else this.#events.onUp(child.spec.address, child.spec.job);
  }

  #onLinkClosed(child: Child, reason: LinkCloseReason, text: string): void {
    child.linkClosed = true;
    if (child.state === 'starting') this.#fail(child, text);
    else if (child.state === 'up') this.#onLost(child, reason, text);
    else if (child.state === 'stopping' && reason !== 'goodbye') {
      this.#kill(child); // The link was lost before the goodbye: nothing else would end this process.
      this.#reportLost(child, reason, text);
    }
    this.#settle(child);
  }

  #onExit(child: Child, end: AgentProcessEnd): void {
    child.exited = true;
    child.hasEnded = end.evidence !== 'connection';
    if (!isToldByLink(child)) this.#fail(child, `${describeExit(child, end)} before the agent answered`);
    // For a child that was up the link decides: it may still hold messages sent before the process ended.
    this.#settle(child);
  }

  #fail(child: Child, what: string, data?: StciError['data']): void {
    if (child.state !== 'starting') return;
    change(child, 'fail');
    this.#started();
    child.watch?.cancel();
    this.#kill(child);
    child.link?.destroy(what);
    if (child.reported || this.#stopping) return;
    child.reported = true;
    this.#events.onFailed(childFailure('STCI_LAUNCH_FAILED', child, 'exited', `did not come up: ${what}`, data));
  }

  #onLost(child: Child, reason: LinkCloseReason, text: string): void {
    change(child, 'lose');
    const isKept = !this.#init.endsLostChildren && evidenceOf(child, reason) !== 'exited' && !this.#stopping;
    if (!isKept) this.#end(child);
    else if (child.process?.isConnection === true) this.#kill(child);
    this.#reportLost(child, reason, text);
  }

  /** While it stops, too: there may be agents below that wait for another parent. */
  #reportLost(child: Child, reason: LinkCloseReason, text: string): void {
    if (child.reported || (this.#stopping && (reason === 'goodbye' || this.#init.endsLostChildren))) return;
    child.reported = true;
    const what = reason === 'goodbye' ? text : `is lost: ${text}`;
    const tell = (): void =>
      this.#events.onFailed(childFailure('STCI_AGENT_LOST', child, evidenceOf(child, reason), what));
    this.#init.node.platform.clock.soon(tell); // What it printed last may be read after the end of its link.
  }

  /** Ends a child that is lost. */
  #end(child: Child): void {
    change(child, 'stop');
    this.#kill(child);
    this.#settle(child);
  }

  #kill(child: Child): void {
    if (child.killed || child.exited) return;
    child.killed = true;
    const { process, origin, spec } = child;
    this.#init.node.linkFaults.whenSent(spec.address, () => [process, origin].forEach((each) => each?.kill()));
  }

  /** A start has succeeded or failed: there is room for another. */
  #started(): void {
    this.#starting -= 1;
    this.#schedule();
  }

  #stopChild(child: Child, reason: string): void {
    const { state } = child;
    if (state === 'waiting') change(child, 'stop');
    else if (state === 'starting') this.#fail(child, reason);
    else if (state === 'adopting') child.link?.destroy(reason);
    else if (state === 'up') {
      change(child, 'stop');
      this.#init.node.messages.sendNeighbour(child.link as Link, 'agent.stop', { reason });
    }
  }

  /** A child has ended when its link is closed and its process has exited. */
  #settle(child: Child): void {
    if ((child.state !== 'stopping' && child.state !== 'lost') || !child.linkClosed || !child.exited) return;
    change(child, 'settle');
    child.endTimer?.cancel();
    this.#former.delete(child);
    this.#checkStopped();
  }

  #all(): Child[] {
    return [...this.#children.values(), ...this.#former];
  }

  #checkStopped(): void {
    if (this.alive.length === 0) this.#stopped();
  }

  #stopped(done = this.#onStopped): void {
    this.#timers.clear('stop');
    this.#onStopped = undefined;
    done?.();
  }

  #overdue(child: Child): void {
    if (child.state === 'gone') return;
    const { node, stopMs } = this.#init;
    node.fault(`still there after ${formatDuration(stopMs)}, killed`, addressName(child.spec.address));
    this.#kill(child);
    child.link?.destroy('did not stop in time');
  }

  /** Children that are adopted in consequence are left to `stopRest`. */
  #killRest(): void {
    const rest = this.#all();
    for (const child of rest) this.#overdue(child);
    this.#timers.set('stop', KILL_WAIT_MS, () => {
      for (const child of rest) change(child, 'settle');
      this.#stopped();
    });
  }
}
