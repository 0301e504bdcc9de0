/**
 * A session whose controller is in this process, and its front-ends: one for the run of a plain stcirun, which ends
 * with it; or one for each job of a session that stays.
 */

import {
  CONTROLLER, fromErrorRecord, toErrorRecord, type Allocation, type FrontEnd, type FrontEndEvents, type HostSpec,
  type JobControl, type JobId, type JobSpec, type Params, type Platform, type StciError,
} from '@stci/interface';
import type { ParamSnapshot } from '@stci/registry';
import { LinkSurveys } from '../agent/link-survey.js';
import { roleFactory } from '../agent/start.js';
import type { AgentScope, Composition } from '../assembly/composition.js';
import { AgentLauncher } from '../boot/agent-launcher.js';
import { SECRET_BYTES, SESSION_BYTES } from '../bootcom/handshake.js';
import type { HostsChanged, RemoveOptions } from '../hosts/elastic-hosts.js';
import type { HostStatus } from '../hosts/host-status.js';
import type { SessionFaults } from '../injection/fault-contracts.js';
import { FaultControl } from '../injection/fault-control.js';
import type { ControllerJob } from '../jobs/controller-job.js';
import type { TopologyReport } from '../messages/topology-report.js';
import { AgentNode } from '../node/node.js';
import { controllerActions } from '../tools/fault-actions.js';
import type { SessionObserver } from './controller-contracts.js';
import { Controller } from './controller.js';
import type { GatheredMetrics } from './gather-metrics.js';

export interface FrontEndInit {
  readonly platform: Platform;
  readonly composition: Composition;
  readonly params: Params;
  /** The part of `params` that agents get. */
  readonly snapshot: ParamSnapshot;
  readonly allocation: Allocation;
}

export interface JobFrontEnd extends FrontEnd {
  /** 0 until the job is admitted. */
  readonly job: JobId;
}

/** A front-end with a controller of its own in this process, for a session of one job. */
export function createFrontEnd(init: FrontEndInit, events: FrontEndEvents): JobFrontEnd {
  const session = new LocalSession(init);
  return new LocalFrontEnd(session.controller, events, {
    open: () => session.controller.open(init.allocation),
    leave: (done) => session.stop(done),
  });
}

/** A session that stays: its hosts are started at once. */
export class ResidentSession {
  readonly #session: LocalSession;

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
    this.#session.controller.gatherMetrics(gathered);
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
    const leave = (done: () => void): void => done();
    return new LocalFrontEnd(this.#session.controller, events, { open: () => undefined, leave });
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
  readonly #node: AgentNode;

  constructor(init: FrontEndInit, observer?: SessionObserver) {
    const { platform, params, composition, snapshot } = init;
    this.#init = init;
    this.#scope = composition.scope('front-end', params, platform);
    const scope = this.#scope;
    const session = platform.secrets.bytes(SESSION_BYTES);
    const identity = { self: CONTROLLER, job: 0, session, secret: platform.secrets.bytes(SECRET_BYTES) };
    const node = new AgentNode({ platform, identity, params, treeOf: (spec) => scope.streamTree(spec) });
    this.#node = node;
    composition.onNode?.(node);
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

  stop(done: () => void): void {
    this.surveys.close();
    this.faults.stop();
    this.controller.stop(() => {
      this.#node.close();
      done();
    });
  }
}

/**
 * Commands of a follower come in the middle of what it is told, and take effect in a later turn, in order. Input does
 * at once, because it changes nothing that is told.
 */
class LocalFrontEnd implements JobFrontEnd {
  readonly #controller: Controller;
  readonly #events: FrontEndEvents;
  readonly #ways: { open(): void; leave(done: () => void): void };
  #job: ControllerJob | undefined;
  /** Input that came before the job was admitted. */
  #early: Uint8Array[] = [];
  #stopping = false;

  /** `open`: what is needed before a job; `leave`: ends what belongs to this front-end. */
  constructor(controller: Controller, events: FrontEndEvents, ways: { open(): void; leave(done: () => void): void }) {
    this.#controller = controller;
    this.#events = events;
    this.#ways = ways;
  }

  get job(): JobId {
    return this.#job?.job ?? 0;
  }

  submit(spec: JobSpec): void {
    this.#later(() => {
      try {
        this.#ways.open();
        this.#controller.submit(spec, (job) => {
          this.#job = job;
          job.front.follow(this.#events);
          for (const chunk of this.#early.splice(0)) job.front.writeStdin(chunk);
        });
      } catch (fault) {
        if (this.#job !== undefined) throw fault;
        // Later: who had thrown it may tell on its own, and first.
        this.#later(() => this.#refused(fromErrorRecord(toErrorRecord(fault))));
      }
    });
  }

  control(control: JobControl): void {
    this.#later(() => this.#job?.onControl(control));
  }

  writeStdin(chunk: Uint8Array): boolean {
    if (this.#job !== undefined) return this.#job.front.writeStdin(chunk);
    this.#early.push(chunk);
    return false;
  }

  closeStdin(): void {
    this.writeStdin(new Uint8Array(0));
  }

  announceSilence(silenceMs: number): void {
    for (const link of this.#controller.node.router.childLinks(this.job)) link.announceSilence(silenceMs);
  }

  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#later(() => this.#ways.leave(() => this.#events.onStopped()));
  }

  #refused(error: StciError): void {
    const now = this.#controller.node.platform.clock.wallMs();
    const record = toErrorRecord(error);
    this.#events.onJobEvent({ type: 'failure', error: record });
    this.#events.onJobEvent({
      type: 'ended',
      report: {
        job: 0, exitCode: error.exitCode, cause: record, failures: [record], ranks: [], daemons: [],
        submitWallMs: now, endWallMs: now,
      },
    });
  }

  #later(call: () => void): void {
    this.#controller.node.platform.clock.soon(call);
  }
}
