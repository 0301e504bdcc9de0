/**
 * Agents that are started together, at the controller: one call of the launcherproc starts those of all hosts with
 * which the session begins, and each says where it waits for the agent above it. When all have, or have failed, the
 * starts along the boot tree begin: they are connections then. A start of this kind is spent when the agent is up, or
 * when it has failed: what follows is a start of its own.
 */

import {
  StciError, addressName, assert, rootAddress, type AgentGroup, type AgentProcessEnd, type AgentsEvents,
  type ErrorRecord, type HostIndex, type HostSpec,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { Timers } from '../event/timers.js';
import { placeFault, type HostStart } from '../launcher/host-login.js';
import { StartPace, startMsMax } from '../launcher/start-pace.js';
import type { AgentNode } from '../node/node.js';
import type { AgentLauncher } from './agent-launcher.js';
import { describeEnd, diagnosticsText, keepLine, relayedDiagnostic, withDiagnostics } from './child.js';
import { StartWatch } from './start-watch.js';

/** The incarnation of agents that are started together. */
const INCARNATION = 1;

/** When all agents but lost ones have ended, what started them may take so long to notice that by itself. */
const NOTICE_MS = 500;

export interface GroupStartInit {
  readonly node: AgentNode;
  readonly agentLauncher: Pick<AgentLauncher, 'launcherOfAll'>;
  readonly hosts: readonly HostSpec[];
  /** Levels of the boot tree below the controller. */
  readonly levels: number;
}

export interface GroupStartEvents {
  /** The process of an agent has ended. */
  onExited(host: HostIndex): void;
  /** A batch system ends all of them. */
  onEnding(error: ErrorRecord): void;
}

interface Member {
  /** Undefined: nothing is known yet, or the start is spent. */
  start: HostStart | undefined;
  isSpent: boolean;
  /** The agent is up, or was. */
  isLinked: boolean;
  /** The agent's process has ended, or nothing more will be heard of it. */
  isOut: boolean;
  end: AgentProcessEnd | undefined;
  readonly diagnostics: string[];
}

export class GroupStart {
  readonly #init: GroupStartInit;
  readonly #events: GroupStartEvents;
  readonly #members: readonly Member[];
  /** What the step said that started them. */
  readonly #diagnostics: string[] = [];
  #group: AgentGroup | undefined;
  #watch: StartWatch | undefined;
  #missing = 0;
  #onReady: (() => void) | undefined;
  /** Once the end is awaited: whether a host's agent is lost. */
  #isLost: ((host: HostIndex) => boolean) | undefined;
  #onEnded: (() => void) | undefined;
  readonly #timers: Timers<'end of all agents'>;
  #isOver = false;

  constructor(init: GroupStartInit, events: GroupStartEvents) {
    this.#init = init;
    this.#events = events;
    this.#timers = new Timers(init.node.platform.clock, init.node.holds);
    this.#members = init.hosts.map(() => {
      return { start: undefined, isSpent: false, isLinked: false, isOut: false, end: undefined, diagnostics: [] };
    });
  }

  /** Calls `done` when each agent waits, or has failed; at once, if they are started one by one. */
  start(done: () => void): void {
    const { node, agentLauncher, hosts, levels } = this.#init;
    const launcher = agentLauncher.launcherOfAll;
    if (launcher === undefined) return done();
    const handshakeMs = node.params.int('launcher.handshake');
    const agents = hosts.map((host, index) => ({ address: rootAddress(index), host }));
    // Half of it until all others wait, then until each agent above has started. It ends before with what started it.
    const waitMs = 2 * levels * startMsMax(handshakeMs);
    this.#missing = hosts.length;
    this.#onReady = done;
    const group = launcher.startAll({ agents, waitMs }, this.#agentsEvents());
    this.#group = group;
    // What tells by itself of hosts that do not answer does so before it is given up for all.
    const { settleMs = 0 } = group;
    const stepMs = handshakeMs + settleMs;
    assert(settleMs >= 0 && stepMs < Infinity, 'a start of all agents has a deadline');
    this.#watch = new StartWatch({
      clock: node.platform.clock, handshakeMs: stepMs, pace: new StartPace({ windowMax: 1, handshakeMs: stepMs }),
      mark: () => `${this.#missing} ${group.phase}`,
      onOverdue: (startMs) => this.#onOverdue(group, startMs),
    });
  }

  /** Agents that wait are not given up for the others. */
  #onOverdue(group: AgentGroup, startMs: number): void {
    const phase = group.phase === undefined ? '' : `; it got as far as phase ${group.phase}`;
    const bound = group.settleMs === undefined ? 'launcher.handshake' : 'the bound of what started it';
    const text = `no word from its agent within ${formatDuration(startMs)} (${bound})${phase}`;
    const isNeeded = this.#members.some(({ start }) => start !== undefined && 'key' in start);
    this.#failRest(`${text}${diagnosticsText(this.#diagnostics)}`);
    if (!isNeeded) group.kill();
  }

  /** Hosts whose agents were started together. */
  get hosts(): readonly HostIndex[] {
    return this.#group === undefined ? [] : [...this.#members.keys()];
  }

  /** What came of the start of a host's agent, until that is spent. */
  startOf(host: HostIndex): HostStart | undefined {
    return this.#members[host]?.start;
  }

  /** The agent's process is known to have ended. */
  hasEnded(host: HostIndex, incarnation: number): boolean {
    return incarnation === INCARNATION && this.#members[host]?.end !== undefined;
  }

  /** Hosts whose agents did not come up, and that nobody has reported yet. */
  failures(): { readonly host: HostIndex; readonly error: StciError }[] {
    return this.#members.flatMap(({ start }, host) => {
      if (start === undefined || !('reason' in start)) return [];
      const { name } = this.#init.hosts[host] as HostSpec;
      const agent = addressName(rootAddress(host));
      const text = `Agent ${agent} on host ${name} did not come up: ${start.reason}`;
      const error = new StciError('STCI_LAUNCH_FAILED', text, { host: name, agent });
      return [{ host, error: this.explained(host, INCARNATION, error) }];
    });
  }

  onUp(host: HostIndex): void {
    const member = this.#members[host];
    if (member === undefined) return;
    member.isLinked ||= member.start !== undefined;
    this.spend(host);
  }

  /**
   * The agent did not come up, or that above it is lost, which may have connected to it: it has ended then; or else it
   * waits, and must not be left beside one that is started anew.
   */
  doubt(host: HostIndex): void {
    const member = this.#members[host];
    if (member?.start === undefined || 'reason' in member.start) this.spend(host);
    else member.start = { ...member.start, orStart: true };
  }

  /** The start has failed: if that was a connection to where the agent waits, it is tried once more. */
  failed(host: HostIndex): void {
    const { start } = this.#members[host] ?? {};
    if (start !== undefined && 'key' in start && start.orStart === true) this.spend(host);
    else this.doubt(host);
  }

  /** The next start of this host's agent is one of its own. */
  spend(host: HostIndex): void {
    const member = this.#members[host];
    if (member === undefined) return;
    member.isSpent = true;
    member.start = undefined;
  }

  /** The error with what is known here of that agent. */
  explained(host: HostIndex, incarnation: number, error: StciError): StciError {
    const { end, diagnostics = [] } = (incarnation === INCARNATION ? this.#members[host] : undefined) ?? {};
    if (end === undefined && diagnostics.length === 0) return error;
    const [first = '', ...rest] = error.message.split('\n');
    const word = end === undefined ? '' : `its process ${describeEnd(end)}`;
    const ended = first.includes(word) ? '' : ` (${word})`;
    const { text, plugin } = withDiagnostics(`${first}${ended}`, diagnostics);
    const { code, host: name, agent, data } = error;
    const init = { ...(name !== undefined && { host: name }), ...(agent !== undefined && { agent }) };
    return new StciError(code, [text, ...rest].join('\n'), { ...init, data: { ...data, ...plugin } });
  }

  /**
   * No agent is needed any more; those that have a link have ended, but for lost ones. Calls `done` when nothing is
   * left of what started them.
   */
  end(isLost: (host: HostIndex) => boolean, done: () => void): void {
    this.#watch?.cancel();
    this.#onReady = undefined;
    const group = this.#group;
    if (group === undefined || this.#isOver) return done();
    this.#onEnded = done;
    this.#isLost = isLost;
    // An agent that nobody has connected to would wait.
    const isWaiting = this.#members.some(({ isLinked, isOut, start }) =>
      !isLinked && !isOut && (start === undefined || 'key' in start));
    if (isWaiting) return this.#kill();
    this.#killAfter(this.#stopMs);
    this.#killIfLost();
  }

  get #stopMs(): number {
    return this.#init.node.params.int('launcher.stop');
  }

  #killAfter(delayMs: number): void {
    this.#timers.set('end of all agents', delayMs, () => this.#kill());
  }

  #kill(): void {
    this.#isLost = undefined;
    const waitMs = Math.max(this.#stopMs, this.#group?.endMs ?? 0);
    this.#timers.set('end of all agents', waitMs, () => this.#over());
    this.#group?.kill();
  }

  /** What started them would wait for agents that are lost when no others are left. */
  #killIfLost(): void {
    const isLost = this.#isLost;
    if (isLost === undefined) return;
    const open = [...this.#members].flatMap(({ isOut, start }, host) =>
      isOut ? [] : [isLost(host) || (start !== undefined && 'reason' in start)]);
    if (open.length === 0 || open.includes(false)) return;
    this.#isLost = undefined;
    this.#killAfter(Math.min(NOTICE_MS, this.#stopMs));
  }

  #agentsEvents(): AgentsEvents {
    const { hosts, node } = this.#init;
    const memberOf = (index: number): Member => this.#members[index] as Member;
    return {
      onPlace: (index, place) => {
        const fault = placeFault(place);
        const reason = `what it said of where it waits is of no use: ${fault}`;
        this.#settle(index, fault === undefined ? place : { reason });
      },
      onFailed: (index, error) => this.#settle(index, { reason: error.message }),
      onDiagnostic: (index, line) => {
        if (index === undefined) {
          keepLine({ diagnostics: this.#diagnostics }, line);
          return node.platform.log.write('info', `start of all agents: ${line}`);
        }
        keepLine(memberOf(index), line);
        const spec = { address: rootAddress(index), host: hosts[index] as HostSpec };
        node.platform.log.write(...relayedDiagnostic(spec, line));
      },
      onExit: (index, end) => this.#onExit(index, end),
      onEnding: (error) => this.#events.onEnding(error),
      onOver: () => {
        this.#failRest(`what started it has ended${diagnosticsText(this.#diagnostics)}`);
        this.#over();
      },
    };
  }

  #settle(index: HostIndex, start: HostStart): void {
    const member = this.#members[index] as Member;
    if (member.start !== undefined || member.isSpent) return;
    member.start = start;
    this.#missing -= 1;
    if (this.#missing === 0) this.#ready();
  }

  #failRest(reason: string): void {
    for (const index of this.#members.keys()) this.#settle(index, { reason });
  }

  #ready(): void {
    this.#watch?.cancel();
    const done = this.#onReady;
    this.#onReady = undefined;
    done?.();
  }

  #onExit(index: HostIndex, end: AgentProcessEnd): void {
    const member = this.#members[index] as Member;
    member.isOut = true;
    this.#killIfLost();
    if (end.evidence === 'connection') return;
    member.end = end;
    if (member.start !== undefined && 'key' in member.start && member.start.orStart === true) this.spend(index);
    else if (member.start !== undefined) {
      member.start = { reason: `its process ${describeEnd(end)} while it waited` };
    }
    this.#events.onExited(index);
  }

  #over(): void {
    this.#isOver = true;
    this.#isLost = undefined;
    this.#timers.clear('end of all agents');
    const done = this.#onEnded;
    this.#onEnded = undefined;
    done?.();
  }
}
