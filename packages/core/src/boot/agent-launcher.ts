/**
 * Agent launcher: how an agent starts others according to its parameters: the launcherproc and its method, and a boot
 * link that is native or made over a listener. Used by the controller and by root agents.
 */

import {
  type Address,
  type AgentProcess,
  type AgentProcessEvents,
  type AgentReach,
  type AgentStart,
  type Channel,
  type HostSpec,
  type JobId,
  type LauncherProc,
} from '@stci/interface';
import { StciError, fromErrorRecord } from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import { adoptionKey, encryptsLinks, linkKey } from '../bootcom/encryption.js';
import { Gate, linkListenOptions, type Watch } from '../bootcom/gate.js';
import type { Link } from '../bootcom/link.js';
import { RefusedConnections } from '../bootcom/refused-connections.js';
import type { BootDetails } from '../launcher/boot-details.js';
import { ADDRESSES_MAX, listenerAddresses, type HostStart } from '../launcher/host-login.js';
import { rootMethod } from '../launcher/framework.js';
import { failedAgent, reachPlace } from '../launcher/reach-here.js';
import { hostWaitMs } from '../launcher/start-pace.js';
import type { AgentNode } from '../node/node.js';
import { ChildSupervisor, type SupervisorEvents } from './child-supervisor.js';
import type { ChildSpec } from './child.js';
import { startInline } from './inline.js';
import type { RoleFactory } from './main.js';

/** Default time for a connection to the listener of an agent. */
const REACH_MS = 10_000;

/** Launcherproc of agents on the controller's own machine. */
export const LOCAL = 'local';

export interface AgentLauncherInit {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  /** All hosts on which agents are planned to be started: one launcherproc must accept them all. */
  readonly hosts?: readonly HostSpec[];
  /** Starts the role of an agent that runs in this process. */
  readonly startRole: RoleFactory;
}

export class AgentLauncher {
  readonly #init: AgentLauncherInit;
  readonly #nativeLink: boolean;
  readonly #groups: ChildSupervisor[] = [];
  /** For the links of children. */
  readonly #gate: Gate;
  #connectKey: Uint8Array | undefined;
  /** Callbacks awaiting the listener; undefined while none is being opened. */
  #waiting: ((error: StciError | undefined) => void)[] | undefined;
  /** For the planned hosts. */
  #launcherProc: LauncherProc | undefined;
  readonly #planned: Set<string>;
  /** For others, by name. */
  readonly #others = new Map<string, LauncherProc>();
  readonly #refused: RefusedConnections;

  constructor(init: AgentLauncherInit) {
    this.#init = init;
    const { params, platform } = init.node;
    this.#refused = new RefusedConnections(platform.clock, (text) => init.node.fault(text, 'listener'));
    init.node.holds.atEnd(() => this.#refused.flush());
    const accept = (channel: Channel, watch: Watch): Link => this.#accept(channel, watch);
    const pendingMax = params.int('bootcom.pending.max');
    this.#gate = new Gate({ holds: init.node.holds, of: 'children', platform, pendingMax, accept });
    this.#nativeLink = init.node.params.string('bootcom.boot') === 'native';
    this.#planned = new Set(init.hosts?.map(({ name }) => name));
  }

  /**
   * A group of children with its own launch window. A child is ended by force after the grace period of its tools and
   * launcher.stop for each of the `levels` of agents at and below it.
   */
  supervise(events: SupervisorEvents, levels = 1, endsLostChildren = true): ChildSupervisor {
    const { node } = this.#init;
    const group = new ChildSupervisor(
      {
        node,
        window: node.params.int('launcher.window'),
        handshakeMs: node.params.int('launcher.handshake'),
        stopMs: node.params.int('tool.grace') + levels * node.params.int('launcher.stop'),
        nativeLink: this.#nativeLink,
        endsLostChildren,
        archiveOf: (index) => this.#init.scope.pluginArchive(index),
      },
      events,
    );
    node.holds.holdAll(() => group.alive.map((name) => `agent ${name}`));
    this.#groups.push(group);
    return group;
  }

  /** Calls `done` when children can be started: at once, or when the listener for their links is open. */
  ready(done: (error: StciError | undefined) => void): void {
    if (this.#nativeLink || this.#gate.addresses.length > 0) return done(undefined);
    if (this.#waiting !== undefined) return void this.#waiting.push(done);
    this.#waiting = [done];
    this.#listen();
  }

  #listen(): void {
    const { params, platform, identity } = this.#init.node;
    if (encryptsLinks(params)) this.#connectKey = linkKey(platform.secrets, identity.secret);
    const bootcom = this.#init.scope.bootcom(params.string('bootcom.boot'));
    this.#gate.open(bootcom, linkListenOptions(params, this.#connectKey), (error) => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const done of waiting) done(error === undefined ? undefined : fromErrorRecord(error));
    });
  }

  /** How children connect to this agent. */
  connection(): Pick<BootDetails, 'connect' | 'connectKey'> {
    const connect = this.#gate.addresses.slice(0, ADDRESSES_MAX);
    return { connect, ...(connect.length > 0 && this.#connectKey !== undefined && { connectKey: this.#connectKey }) };
  }

  /** `started`: what came of its start with all others. */
  rootSpec(start: AgentStart, incarnation: number, details: Uint8Array, started?: HostStart): ChildSpec {
    return {
      address: start.address,
      job: 0,
      incarnation,
      host: start.host,
      details,
      start: (events) => this.#startRoot(start, started, events),
    };
  }

  /** A session agent always runs on its root agent's host: no launcherproc is needed. */
  sessionSpec(start: AgentStart, job: JobId, incarnation: number, details: Uint8Array): ChildSpec {
    const { platform } = this.#init.node;
    return {
      address: start.address,
      job,
      incarnation,
      host: start.host,
      details,
      start: (events) =>
        start.method === 'inline'
          ? startInline(platform, this.#init.startRole, start, events)
          : platform.processes.spawnAgent(start.method, platform.processes.agentCommand, events),
    };
  }

  /** Accepts the connection of a child that is being started, and no other. */
  #accept(channel: Channel, watch: Watch): Link {
    const { node } = this.#init;
    let owner: ChildSupervisor | undefined;
    const admit = (peer: Address, incarnation: number, job: JobId): string | undefined => {
      owner = this.#groups.find((group) => group.owns(peer, job));
      return owner === undefined ? 'it is no child of this agent' : owner.admit(peer, incarnation, job);
    };
    const hooks = watch({
      onUp: (link) => owner?.acceptLink(link),
      onClosed: (link, reason, text) => {
        if (owner !== undefined) owner.linkClosed(link, reason, text);
        else if (!this.#gate.isClosed) this.#refused.add(text);
      },
    });
    return node.acceptLink(channel, node.params.int('bootcom.handshake'), admit, { isConfirmed: true, ...hooks });
  }

  /** Connects to a root agent that runs, at its private socket or its listener. */
  reach(address: Address, reach: AgentReach, events: AgentProcessEvents): AgentProcess {
    const addresses = listenerAddresses(reach.path);
    if (addresses.length === 0) return this.#launcherProcFor(reach.host).reach(reach, events);
    const { node } = this.#init;
    const key = adoptionKey(node.platform.secrets, node.secretOf(address, 0));
    return reachPlace(node.platform, { addresses, key }, reach.waitMs ?? REACH_MS, events);
  }

  /** The planned hosts are this machine: the connection to their agents ends with the process of either end only. */
  get isLocal(): boolean {
    return this.#launcherProc?.name === LOCAL;
  }

  /** The launcherproc that starts all planned hosts' agents of processes by one call, if it can. */
  get launcherOfAll(): Required<Pick<LauncherProc, 'name' | 'startAll'>> | undefined {
    const proc = this.#launcherProc;
    const isProcess = rootMethod(this.#init.node.params) === 'process';
    if (!isProcess || proc?.startAll === undefined) return undefined;
    return { name: proc.name, startAll: (start, events) => (proc as Required<LauncherProc>).startAll(start, events) };
  }

  /** Why no agent can be started on a host, or reached there. */
  problemOf(host: HostSpec): StciError | undefined {
    try {
      this.#launcherProcFor(host);
      return undefined;
    } catch (fault) {
      if (fault instanceof StciError) return fault;
      throw fault;
    }
  }

  #launcherProcFor(host: HostSpec): LauncherProc {
    const { scope, hosts } = this.#init;
    if (this.#planned.has(host.name)) return (this.#launcherProc ??= this.#create(hosts ?? [host]));
    const name = scope.launchMethod([host]);
    if (this.#launcherProc?.name === name) return this.#launcherProc;
    const other = this.#others.get(name) ?? this.#create([host]);
    this.#others.set(name, other);
    return other;
  }

  #startRoot(start: AgentStart, started: HostStart | undefined, events: AgentProcessEvents): AgentProcess {
    const { platform, params } = this.#init.node;
    const handshakeMs = params.int('launcher.handshake');
    if (started !== undefined && 'reason' in started) return failedAgent(platform, started.reason, events);
    if (started !== undefined && started.orStart !== true) return reachPlace(platform, started, handshakeMs, events);
    const launcherProc = this.#launcherProcFor(start.host);
    const startOne = (): AgentProcess => launcherProc.start({ ...start, waitMs: hostWaitMs(handshakeMs) }, events);
    // The rest of the time is for the start.
    return started === undefined ? startOne() : reachPlace(platform, started, handshakeMs / 2, events, startOne);
  }

  /** The planned hosts. Throws StciError if no launcherproc accepts them. */
  plan(hosts: readonly HostSpec[]): void {
    for (const { name } of hosts) this.#planned.add(name);
    this.#launcherProc = this.#create(hosts);
  }

  #create(hosts: readonly HostSpec[]): LauncherProc {
    const { platform } = this.#init.node;
    return this.#init.scope.launcherProc(hosts, (start, events) =>
      startInline(platform, this.#init.startRole, start, events),
    );
  }
}
