/**
 * A session whose controller is in this process, with front-end agents beside it: one for the run of a plain stcirun,
 * which ends with it; or one for each job of a session that stays.
 */

import {
  CONTROLLER, FRONT_END, frontEndAddress, type Address, type Allocation, type FrontEndEvents, type HostSpec,
  type Params, type Platform,
} from '@stci/interface';
import type { ParamSnapshot } from '@stci/registry';
import { LinkSurveys } from '../agent/link-survey.js';
import { roleFactory } from '../agent/start.js';
import type { AgentScope, Composition } from '../assembly/composition.js';
import { AgentLauncher } from '../boot/agent-launcher.js';
import { SECRET_BYTES, SESSION_BYTES } from '../bootcom/handshake.js';
import type { GatheredMetrics } from '../failure/gather-metrics.js';
import type { HostsChanged, RemoveOptions } from '../hosts/elastic-hosts.js';
import type { HostStatus } from '../hosts/host-status.js';
import type { SessionFaults } from '../injection/fault-contracts.js';
import { FaultControl } from '../injection/fault-control.js';
import { FrontEndAgent, type JobFrontEnd } from '../jobs/front-end.js';
import type { TopologyReport } from '../messages/topology-report.js';
import { AgentNode } from '../node/node.js';
import { controllerActions } from '../tools/fault-actions.js';
import type { SessionObserver } from './controller-contracts.js';
import { Controller } from './controller.js';

export interface FrontEndInit {
  readonly platform: Platform;
  readonly composition: Composition;
  readonly params: Params;
  /** The part of `params` that agents get. */
  readonly snapshot: ParamSnapshot;
  readonly allocation: Allocation;
}

/** A front-end with a controller of its own in this process, for a session of one job. */
export function createFrontEnd(init: FrontEndInit, events: FrontEndEvents): JobFrontEnd {
  const session = new LocalSession(init);
  const leave = (done: () => void): void => session.stop(done);
  return session.open(FRONT_END, events, { allocation: init.allocation, leave });
}

/** A session that stays: its hosts are started at once. */
export class ResidentSession {
  readonly #session: LocalSession;
  /** Of the last front-end. The first one is the session's own. */
  #index = 0;

  constructor(init: FrontEndInit, observer: SessionObserver) {
    this.#session = new LocalSession(init, observer);
    this.#session.controller.open(init.allocation);
  }

  get continues(): boolean {
    return this.#session.continues;
  }

  get launcher(): string {
    return this.#session.launcher;
  }

  addHosts(specs: readonly HostSpec[], done: HostsChanged): void {
    this.#session.controller.addHosts(specs, done);
  }

  removeHosts(names: readonly string[], options: RemoveOptions, done: HostsChanged): void {
    this.#session.controller.removeHosts(names, options, done);
  }

  gatherMetrics(gathered: GatheredMetrics): void {
    this.#session.controller.failures.gatherMetrics(gathered);
  }

  get faults(): SessionFaults {
    return this.#session.faults;
  }

  topology(survey: number): TopologyReport {
    return this.#session.surveys.report(survey);
  }

  /** Spare hosts that are not used. */
  get spares(): readonly string[] {
    return this.#session.controller.spares;
  }

  get hosts(): readonly HostStatus[] {
    return this.#session.controller.hosts();
  }

  /** What the controller knows of other agents: it depends on the hosts and on the jobs that run. */
  get pairs(): number {
    return this.#session.controller.node.messages.pairs;
  }

  /** For one job; it ends with `stop`, the session does not. */
  openFrontEnd(events: FrontEndEvents): JobFrontEnd {
    this.#index += 1;
    return this.#session.open(frontEndAddress(this.#index), events, { allocation: undefined, leave: (done) => done() });
  }

  stop(done: () => void): void {
    this.#session.stop(done);
  }
}

class LocalSession {
  readonly controller: Controller;
  readonly surveys: LinkSurveys;
  readonly faults: FaultControl;
  readonly #init: FrontEndInit;
  readonly #scope: AgentScope;
  readonly #key: { readonly session: Uint8Array; readonly secret: Uint8Array };
  readonly #node: AgentNode;

  constructor(init: FrontEndInit, observer?: SessionObserver) {
    const { platform, params, composition, snapshot } = init;
    this.#init = init;
    this.#scope = composition.scope('front-end', params, platform);
    this.#key = { session: platform.secrets.bytes(SESSION_BYTES), secret: platform.secrets.bytes(SECRET_BYTES) };
    const node = (this.#node = this.#makeNode(CONTROLLER, this.#key.secret));
    const scope = this.#scope;
    const agentLauncher = new AgentLauncher({ node, scope, startRole: roleFactory(composition) });
    this.controller = new Controller({ node, scope, agentLauncher, snapshot, observer });
    this.surveys = new LinkSurveys(node, this.controller.failures.metrics, () => this.controller.hosts());
    this.faults = new FaultControl({ node, scope, actions: () => controllerActions(node), session: this.controller });
    this.controller.onGone = (gone) => this.faults.onGone(gone);
  }

  /** A failure does not end a job that says nothing else. */
  get continues(): boolean {
    return this.#scope.errorManager(this.#init.params).goesOn;
  }

  /** Name of the launcherproc that starts its agents. */
  get launcher(): string {
    const { hosts, spares } = this.#init.allocation;
    return this.#scope.launchMethod([...hosts, ...spares]);
  }

  open(
    self: Address,
    events: FrontEndEvents,
    { allocation, leave }: { readonly allocation: Allocation | undefined; leave(done: () => void): void },
  ): JobFrontEnd {
    const makeNode = (address: Address): AgentNode => this.#makeNode(address, this.#node.secretOf(address, 0));
    return new FrontEndAgent({ controller: this.#node, makeNode, allocation, leave }, self, events);
  }

  stop(done: () => void): void {
    this.surveys.close();
    this.faults.stop();
    this.controller.stop(() => {
      this.#node.close();
      done();
    });
  }

  #makeNode(self: Address, secret: Uint8Array): AgentNode {
    const { platform, params, composition } = this.#init;
    const identity = { self, job: 0, session: this.#key.session, secret };
    const node = new AgentNode({ platform, identity, params, treeOf: (spec) => this.#scope.streamTree(spec) });
    composition.onNode?.(node);
    return node;
  }
}
