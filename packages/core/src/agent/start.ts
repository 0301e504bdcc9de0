/**
 * Start of a role, the initialization phase (STCI paper, III-B): the node, its services, its place in the tree. Loaded
 * when the boot link is up. The same for an agent in a process, a thread, or another agent's process.
 */

import {
  CONTROLLER, StciError, addressKind, addressName, caught, type BootTree, type Bootcom, type Channel, type HostSpec,
  type LinkCloseReason, type SignalName,
} from '@stci/interface';
import type { Composition } from '../assembly/composition.js';
import { AdoptionListener } from '../boot/adoption.js';
import { AgentLauncher } from '../boot/agent-launcher.js';
import type { AgentEnd, AgentHandle, RoleInit, RoleFactory } from '../boot/main.js';
import { ParentConnection } from '../boot/parent-connection.js';
import type { Link, LinkEvents, LinkLimits } from '../bootcom/link.js';
import { Lifecycle } from '../event/lifecycle.js';
import { Timers } from '../event/timers.js';
import { HOSTS_MAX, decodeBootDetails, type BootDetails } from '../launcher/boot-details.js';
import { hostSpec, type HostLogin } from '../launcher/host-login.js';
import type { BootPlaces } from '../launcher/parent-tree.js';
import { AgentNode } from '../node/node.js';
import { LinkGuard } from '../node/peer-guard.js';
import { probeMs } from '../peers/probe-time.js';
import { TreeOverlay } from '../peers/tree-overlay.js';
import { SessionAgent } from '../tools/session.js';
import { AGENT_LIFE } from './lifecycle.js';
import { RootAgent } from './root.js';

/** How long the last messages may take before the agent ends without them. */
const GOODBYE_MS = 1000;

/**
 * How long an agent waits for the controller to link to it again after their link was closed: the controller, if it
 * lives, saw that as well, and no other agent is above.
 */
const CONTROLLER_WAIT_MS = 3000;

/** Part of its waiting time after which it lets the agents below go: they have the rest to be linked to others. */
const RELEASE_FRACTION = 1 / 2;

/** Common interface of root and session agents. */
interface Role {
  start?(): void;
  stop(done: () => void): void;
  /** As `stop`, but the agents below go on. */
  leave?(done: () => void): void;
  /** For an agent that is being killed: ends at once. */
  end?(kill: boolean): void;
  readonly outlivesParent?: boolean;
  onOrphaned?(): void;
  /** The agents below are to wait for another parent, at most so long. */
  release?(waitMs: number): void;
  onMended?(): void;
  isParentDoubted?(): boolean;
  onParentHeard?(): void;
  onTerminated(): void;
  forward?(signal: SignalName): void;
}

export function roleFactory(composition: Composition): RoleFactory {
  const start: RoleFactory = (init) => new RunningAgent(init, composition, start);
  return start;
}

/** Hosts whose agents are to be started below an agent. */
function hostsBelow({ subtree }: BootDetails): HostSpec[] {
  return subtree.slice(1).map(hostSpec);
}

class RunningAgent implements AgentHandle {
  readonly #exit: (end: AgentEnd) => void;
  readonly #release: () => void;
  readonly #lifecycle = new Lifecycle(AGENT_LIFE);
  #node: AgentNode | undefined;
  #role: Role | undefined;
  #parent: Link | undefined;
  #connection: ParentConnection | undefined;
  readonly #timers: Timers<'orphan' | 'goodbye'>;
  /** The parent's link, while an answer of the parent is awaited. */
  #asked: Link | undefined;
  /** The parent is cut off and has let this agent go: how long it waits for another. */
  #releasedMs: number | undefined;
  #end: AgentEnd = { failed: false, reason: 'stopped' };

  constructor(init: RoleInit, composition: Composition, startRole: RoleFactory) {
    this.#timers = new Timers(init.platform.clock);
    this.#exit = init.exit;
    this.#release = init.release;
    caught(() => this.#compose(init, composition, startRole), ({ message }) => this.#fail(message));
  }

  get #isOver(): boolean {
    return this.#lifecycle.is('ended', 'failed');
  }

  get #isEnding(): boolean {
    return this.#isOver || this.#lifecycle.is('stopping');
  }

  abort(reason: string): void {
    if (this.#isOver) return;
    this.#end = { failed: true, reason };
    this.#role?.end?.(true);
    this.#connection?.destroy(reason);
    this.#parent?.destroy(reason);
    this.#stop();
  }

  fail(reason: string): void {
    if (this.#isEnding) return;
    if (this.#role === undefined || this.#parent === undefined) return this.#fail(reason);
    this.#end = { failed: true, reason };
    this.#stop();
  }

  terminated(reason: string): void {
    if (this.#isOver) return;
    if (this.#role === undefined || this.#parent === undefined) this.abort(reason);
    else this.#role.onTerminated();
  }

  forward(signal: SignalName): void {
    if (this.#lifecycle.is('running', 'orphaned')) this.#role?.forward?.(signal);
  }

  parentGone(reason: string): void {
    if (this.#lifecycle.is('running', 'orphaned') && this.#role?.outlivesParent === true) this.#release();
    else this.abort(reason);
  }

  /** The others take this agent for dead, and may have begun its ranks anew: nothing of it may go on. */
  #fence(reason: string): void {
    if (this.#isEnding) return;
    this.#end = { failed: true, reason };
    this.#role?.end?.(true);
    this.#parent?.destroy(reason);
    this.#stop(true);
  }

  #compose(init: RoleInit, composition: Composition, startRole: RoleFactory): void {
    const { platform, boot, ownsProcess } = init;
    const details = decodeBootDetails(boot.details);
    const { self, job, session, secret } = boot;
    const params = composition.paramsOf(details.params);
    const scope = composition.scope(addressName(self), params, platform);
    const identity = { self, job, incarnation: boot.start, session, secret };
    const node = new AgentNode({ platform, identity, params });
    this.#node = node;
    composition.onNode?.(node);
    new LinkGuard(node);
    node.collects.on('agent.held', () => node.holds.rows());
    node.messages.on('agent.stop', ({ reason }) => this.#onStop(reason));
    node.messages.on('agent.leave', () => this.#onStop('it was removed', true));
    if (addressKind(self) === 'root') {
      const agentLauncher = new AgentLauncher({ node, scope, startRole, hosts: hostsBelow(details) });
      const treeOf = (hosts: number): BootTree => scope.bootTree(hosts, details.tree);
      // An agent in the process of its parent ends with it.
      const mayBeAdopted = details.outlivesParent && ownsProcess;
      const adoption = mayBeAdopted ? this.#adoption(init, node, treeOf(HOSTS_MAX)) : undefined;
      const overlay = new TreeOverlay(node);
      this.#role = new RootAgent({
        node, details, agentLauncher, treeOf, incarnation: boot.start, overlay, adoption, scope, ownsProcess,
        services: composition.services, fail: (reason) => this.#fail(reason),
        killSelf: () => (ownsProcess ? platform.processes.killSelf() : this.abort('killed by a fault')),
        fence: (reason) => this.#fence(reason),
        cutOff: (reason) => this.#onCutOff(node, `the controller is not heard: ${reason}`),
        parentGone: () => {
          // By the overlay messages go on at once. Without one, the report may be wrong, and there is no other link.
          if (overlay.topology !== undefined) this.#parent?.destroy('its agent is reported as dead', 'lost');
        },
        onReleased: (waitMs) => {
          this.#releasedMs = waitMs;
          this.#parent?.destroy('the agent above is cut off', 'lost');
        },
      });
    } else if (addressKind(self) === 'session') {
      const [, hostName] = details.subtree[0] as HostLogin;
      this.#role = new SessionAgent({ node, scope, ownsProcess, hostName, services: composition.services });
    } else {
      const text = `Expected to be started as a root or session agent, got ${node.name}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    const events = node.linkEvents({
      onUp: (link) => this.#onLinked(link),
      onClosed: (link, reason, text) => this.#onParentClosed(link, reason, text),
    });
    if (init.bootLink !== undefined) init.bootLink.takeOver(events);
    else this.#connect(init, node, details, scope.bootcom(params.string('bootcom.boot')), events);
  }

  #adoption({ boot, listens }: RoleInit, node: AgentNode, tree: BootPlaces): AdoptionListener {
    const hooks = {
      onUp: (link: Link) => this.#onAdopted(link),
      onClosed: (link: Link, reason: LinkCloseReason, text: string) => this.#onParentClosed(link, reason, text),
    };
    const isParentDoubted = (): boolean => this.#role?.isParentDoubted?.() === true;
    const onRefused = (): void => this.#askParent(node);
    return new AdoptionListener({ node, boot, listens, tree, hooks, isParentDoubted, onRefused });
  }

  /** Its link to the controller is of no use; another parent, if it answers, is cut off itself, or one above it. */
  #onCutOff(node: AgentNode, reason: string): void {
    if (this.#parent?.peer === CONTROLLER) this.#parent.destroy(reason, 'silent');
    else this.#askParent(node, () => this.#role?.onParentHeard?.());
  }

  /** Others are to link to this agent: its parent may stand still, or may have lost the link at its end only. */
  #askParent({ messages, params }: AgentNode, onAnswer?: () => void): void {
    const link = this.#parent;
    if (link === undefined || link.state === 'closed' || this.#asked === link) return;
    this.#asked = link;
    messages.request(link.peer, 'agent.echo', 0, (error) => {
      this.#asked = undefined;
      if (this.#parent !== link) return;
      if (error === undefined) onAnswer?.();
      else link.destroy('it does not answer', 'lost');
    }, { timeoutMs: probeMs(params) });
  }

  #connect(
    { platform, boot }: RoleInit,
    node: AgentNode,
    { connect: addresses, connectKey: key }: BootDetails,
    { kind, connect }: Bootcom,
    events: LinkEvents,
  ): void {
    if (connect === undefined) return this.#fail(`could not connect to the parent: ${kind} links do not connect`);
    const limits = (handshakeMs: number, channel: Channel): LinkLimits => node.linkLimits(handshakeMs, channel);
    this.#connection = new ParentConnection(
      { platform, boot, addresses, key, connect, limits },
      { link: events, onFailed: (text) => this.#fail(`could not connect to the parent: ${text}`) },
    );
  }

  #onLinked(link: Link): void {
    this.#parent = link;
    this.#lifecycle.apply('linked');
    this.#role?.start?.();
    if (!this.#isOver) this.#lifecycle.apply('initialized');
  }

  #onAdopted(link: Link): void {
    const former = this.#parent;
    this.#parent = link;
    former?.destroy('replaced');
    if (this.#lifecycle.is('orphaned')) {
      this.#timers.clear('orphan');
      this.#lifecycle.apply('linked');
    } else if (!this.#lifecycle.is('running')) return;
    this.#role?.onMended?.();
  }

  #onStop(reason: string, leaves = false): void {
    this.#end = { failed: false, reason };
    this.#stop(leaves);
  }

  /** The parent is gone: an agent that stays unreachable ends its tools and itself (STCI paper, II-F; no orphans). */
  #onParentClosed(link: Link, reason: LinkCloseReason, text: string): void {
    if (link !== this.#parent) return;
    if (this.#timers.has('goodbye')) return this.#over();
    if (this.#isEnding) return;
    if (this.#lifecycle.is('running') && reason !== 'goodbye' && this.#role?.outlivesParent === true) {
      this.#lifecycle.apply('orphan');
      this.#release();
      this.#role.onOrphaned?.();
      this.#waitForParent(link, reason, text);
    } else this.#endWithoutParent(reason, text);
  }

  #waitForParent({ peer }: Link, reason: LinkCloseReason, text: string): void {
    const leaseMs = (this.#node as AgentNode).params.int('bootcom.lease');
    // After a silence, the other end has found out, too, and the lease has passed once already.
    const ownMs = reason === 'silent' ? leaseMs / 2
      : peer === CONTROLLER ? Math.min(leaseMs, CONTROLLER_WAIT_MS) : leaseMs;
    const waitMs = Math.min(ownMs, this.#releasedMs ?? Infinity);
    this.#releasedMs = undefined;
    const restMs = Math.floor(waitMs * (1 - RELEASE_FRACTION));
    this.#timers.set('orphan', waitMs - restMs, () => {
      this.#role?.release?.(restMs);
      this.#timers.set('orphan', restMs, () => this.#endWithoutParent(reason, text));
    });
  }

  #endWithoutParent(reason: LinkCloseReason, text: string): void {
    this.#end = { failed: reason !== 'goodbye', reason: `lost its parent: ${text}` };
    this.#stop();
  }

  #stop(leaves = false): void {
    this.#timers.clear('orphan');
    const wasEnding = this.#isEnding;
    this.#lifecycle.apply('stop');
    if (wasEnding) return;
    if (this.#isOver || this.#role === undefined) return this.#finish();
    const done = (): void => this.#finish();
    if (leaves) this.#role.leave?.(done);
    else this.#role.stop(done);
  }

  #fail(reason: string): void {
    if (this.#isOver) return;
    this.#lifecycle.apply('fault');
    this.#end = { failed: true, reason };
    this.#finish();
  }

  /** Says goodbye and waits until it is sent, so that no report is lost. */
  #finish(): void {
    if (this.#lifecycle.is('stopping')) this.#lifecycle.apply('stopped');
    try {
      this.#node?.close();
    } catch (fault) {
      this.#node?.fault(fault, 'the end of what it holds');
    }
    const parent = this.#parent;
    if (parent === undefined || parent.state === 'closed') return this.#over();
    this.#timers.set('goodbye', GOODBYE_MS, () => this.#over());
    parent.close(this.#end.failed ? this.#end.reason : '');
  }

  #over(): void {
    this.#timers.close();
    this.#exit(this.#end);
  }
}
