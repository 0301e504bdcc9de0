/**
 * A session: a controller in this process, with its agents, and a front-end for each job. One that stays has an
 * observer, and is opened and stopped by whoever made it; else it is that of a plain stcirun, for one job, whose
 * front-end does both.
 */

import {
  CONTROLLER, addressIndex, addressName, agentName, fromErrorRecord, toErrorRecord, type Allocation, type FrontEnd,
  type FrontEndEvents, type HostSpec, type JobControl, type JobId, type JobSpec, type Params, type Platform,
  type StciError,
} from '@stci/interface';
import type { ParamSnapshot } from '@stci/registry';
import { gatherLinks, type GatheredLinks } from '../agent/link-survey.js';
import { roleFactory } from '../agent/start.js';
import type { AgentScope, Composition } from '../assembly/composition.js';
import { AgentLauncher } from '../boot/agent-launcher.js';
import { SECRET_BYTES, SESSION_BYTES } from '../bootcom/handshake.js';
import { Scope } from '../event/scope.js';
import type { HostsChanged, RemoveOptions } from '../hosts/elastic-hosts.js';
import type { HostStatus } from '../hosts/host-status.js';
import type { SessionFaults } from '../injection/fault-contracts.js';
import type { ControllerJob } from '../jobs/controller-job.js';
import { AgentNode } from '../node/node.js';
import type { GatheredMetrics, SessionMetrics } from '../scrape/contracts.js';
import { AgentServices } from '../service/agent-services.js';
import type { OpenService } from '../service/contracts.js';
import type { GatheredHeld, SessionObserver } from './controller-contracts.js';
import { Controller } from './controller.js';

export interface SessionInit {
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

/** A front-end with a session of its own. */
export function createFrontEnd(init: SessionInit, events: FrontEndEvents): JobFrontEnd {
  return new Session(init).follow(events);
}

export class Session {
  readonly #init: SessionInit;
  readonly #scope: AgentScope;
  readonly #node: AgentNode;
  /** What this process has of the session, also when its agents have ended. */
  readonly holds = new Scope('session');
  readonly #work: Scope;
  readonly #controller: Controller;
  readonly #services: AgentServices<'controller'>;
  #end: 'none' | 'begun' | 'over' = 'none';
  readonly #onStopped: (() => void)[] = [];

  constructor(init: SessionInit, observer?: SessionObserver) {
    const { platform, params, composition, snapshot } = init;
    this.#init = init;
    this.#scope = composition.scope('front-end', params, platform);
    const scope = this.#scope;
    const session = platform.secrets.bytes(SESSION_BYTES);
    const identity = { self: CONTROLLER, job: 0, session, secret: platform.secrets.bytes(SECRET_BYTES) };
    const node = new AgentNode({ platform, identity, params, holds: this.holds.child('agent') });
    this.#node = node;
    composition.onNode?.(node);
    const agentLauncher = new AgentLauncher({ node, scope, startRole: roleFactory(composition) });
    const controller = new Controller({ node, scope, agentLauncher, snapshot, observer });
    this.#controller = controller;
    this.#work = node.holds.child('services');
    this.#services = new AgentServices('controller', composition.services, {
      node, scope, ownsProcess: true, overlay: controller.overlay, session: controller,
      jobOf: (job) => runningJob(controller.jobOf(job)), warn: (text) => controller.warn(text),
    });
    controller.tellServices = (call) => this.#services.tell(call);
    this.#work.holdAll(() => this.#services.labels, () => this.#services.stop('the session ends'));
  }

  /** Starts its agents. Throws StciError if they cannot be started; nothing has been started then. */
  open(): void {
    this.#controller.open(this.#init.allocation);
  }

  /** The front-end of one job, which submits and follows it. */
  follow(events: FrontEndEvents): JobFrontEnd {
    return new LocalFrontEnd(this, this.#controller, events);
  }

  get hosts(): readonly HostStatus[] {
    return this.#controller.hosts();
  }

  /** Spare hosts that are not used. */
  get spares(): readonly string[] {
    return this.#controller.spares;
  }

  /** A failure does not end a job that says nothing else. */
  get continues(): boolean {
    return this.#scope.errorManager(this.#init.params).toleratesFailures;
  }

  /** Name of the launcherproc that starts its agents. */
  get launcher(): string {
    const { hosts, spares } = this.#init.allocation;
    return this.#scope.launchMethod([...hosts, ...spares]);
  }

  /** What the controller knows of other agents: it depends on the hosts and on the jobs that run. */
  get pairs(): number {
    return this.#node.messages.transport.delivery.pairs;
  }

  /** Calls `done` with fault injection, at once if it is loaded; or with why it cannot be. */
  useFaults(done: (faults: SessionFaults | undefined, error?: StciError) => void): void {
    this.#services.use('faults', (opened, error) => {
      done(opened as (OpenService & SessionFaults) | undefined, error);
    });
  }

  /** As ElasticHosts.add. */
  addHosts(specs: readonly HostSpec[], done: HostsChanged): void {
    this.#controller.hostChanges.add(specs, done);
  }

  /** As ElasticHosts.remove. */
  removeHosts(names: readonly string[], options: RemoveOptions, done: HostsChanged): void {
    this.#controller.hostChanges.remove(names, options, done);
  }

  /** Of all agents that run. */
  gatherMetrics(gathered: GatheredMetrics): void {
    this.#services.use('metrics', (opened, error) => {
      if (opened === undefined) gathered.onDone([], error);
      else (opened as OpenService & SessionMetrics).gather(gathered);
    });
  }

  /** Of all agents that run. */
  gatherHeld({ onAgent, onDone }: GatheredHeld): void {
    const controller = this.#controller;
    onAgent('', addressName(CONTROLLER), this.holds.rows());
    this.#node.collects.ask('agent.held', controller.agents, {
      onEach: (rows, [agent, job]) => onAgent(controller.hostName(addressIndex(agent)), agentName(agent, job), rows),
      onDone,
    });
  }

  /** Of all agents that may be there. */
  gatherLinks(gathered: GatheredLinks): void {
    gatherLinks(this.#node, this.#controller.hosts(), gathered);
  }

  /** Ends all agents. */
  stop(done: () => void): void {
    if (this.#end === 'over') return done();
    this.#onStopped.push(done);
    if (this.#end === 'begun') return;
    this.#end = 'begun';
    this.#work.close();
    this.#controller.stop(() => {
      this.#end = 'over';
      this.#node.close();
      for (const each of this.#onStopped) each();
    });
  }
}

/**
 * Commands of a follower come in the middle of what it is told, and take effect in a later turn, in order. Input does
 * at once, because it changes nothing that is told.
 */
class LocalFrontEnd implements JobFrontEnd {
  readonly #session: Session;
  readonly #controller: Controller;
  readonly #events: FrontEndEvents;
  #job: ControllerJob | undefined;
  /** Input that came before the job was admitted. */
  #early: Uint8Array[] = [];
  #stopping = false;

  constructor(session: Session, controller: Controller, events: FrontEndEvents) {
    this.#session = session;
    this.#controller = controller;
    this.#events = events;
  }

  get job(): JobId {
    return this.#job?.job ?? 0;
  }

  submit(spec: JobSpec): void {
    this.#later(() => {
      try {
        if (!this.#controller.stays) this.#session.open();
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
    const onStopped = (): void => this.#events.onStopped();
    this.#later(() => (this.#controller.stays ? onStopped() : this.#session.stop(onStopped)));
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

function runningJob(job: ControllerJob | undefined): ControllerJob | undefined {
  return job?.phase === 'over' ? undefined : job;
}
