/**
 * Controller (STCI paper, II-A): one per session. It has the allocation's agents started along the boot tree, runs any
 * number of jobs on them, one beside the other, and ends them. What happens to one job is in controller-job.ts.
 */

import {
  CONTROLLER, JOB_MAX, StciError, addressIndex, addressKind, fromErrorRecord, rootAddress, sessionAddress,
  toErrorRecord, type Address, type Allocation, type Failure, type FailureRecord, type HostIndex, type JobEvent,
  type JobId, type JobSpec,
} from '@stci/interface';
import type { MessageContext } from '../am/message-layer.js';
import type { AgentScope } from '../assembly/composition.js';
import type { Scope } from '../event/scope.js';
import { ControllerFailures } from '../failure/controller-failures.js';
import { isGoneFrom, isOnHost } from '../hosts/agents-of-host.js';
import { Bootstrap } from '../hosts/bootstrap.js';
import { ElasticHosts } from '../hosts/elastic-hosts.js';
import { Expulsion } from '../hosts/expulsion.js';
import { hostStatus, type HostStatus } from '../hosts/host-status.js';
import { sessionTree } from '../hosts/session-tree.js';
import type { TreeMender } from '../hosts/tree-mender.js';
import { hostFailure } from '../job/exit-rule.js';
import type { ControllerJob } from '../jobs/controller-job.js';
import { JobAdmission } from '../jobs/job-admission.js';
import { cutOffRecord } from '../jobs/job-failures.js';
import { creditBytes } from '../jobs/job-launch.js';
import { listenForJobs } from '../jobs/job-messages.js';
import type { JobSession } from '../jobs/job-session.js';
import type { MendAction } from '../membership/mender.js';
import type { MembershipTable } from '../membership/table.js';
import type { AgentOfJob } from '../messages/collected.js';
import type { SessionFailure } from '../messages/failure-shapes.js';
import type { Launch, MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import { TreeOverlay } from '../peers/tree-overlay.js';
import type { OpenService } from '../service/contracts.js';
import { AllocationEnd } from './allocation-end.js';
import type { ControllerDeps } from './controller-contracts.js';
import { checkFailureParts, checkOverlay } from './session-checks.js';

const ENDED_TEXT = 'The agents of the session have ended: it takes no more jobs, and no hosts.';

export class Controller implements JobSession {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  readonly holds: Scope;
  readonly #deps: ControllerDeps;
  readonly #expulsion: Expulsion;
  readonly overlay: TreeOverlay;
  readonly failures: ControllerFailures;
  readonly allocationEnd: AllocationEnd;
  #bootstrap: Bootstrap | undefined;
  #changes: ElasticHosts | undefined;
  /** Why the launch of the session's agents was aborted. */
  #aborted: readonly Failure[] | undefined;
  readonly #jobs = new Map<JobId, ControllerJob>();
  readonly slots: JobAdmission;
  #lastJob = 0;
  /** Calls for each service that the session has from its start. */
  tellServices: (call: (service: OpenService) => void) => void = () => undefined;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    this.node = deps.node;
    this.scope = deps.scope;
    this.holds = deps.node.holds.child('work');
    this.slots = new JobAdmission({
      clock: deps.node.platform.clock, holds: this.holds,
      bootstrap: () => this.#bootstrap as Bootstrap, isOpen: () => this.#mender !== undefined,
      jobs: () => this.#jobs.values(), onRoom: () => deps.observer?.onRoom(),
    });
    this.#expulsion = new Expulsion({
      node: deps.node,
      bootstrap: () => this.#bootstrap,
      // During the bootstrap, the agents that start hosts report their loss.
      onLost: (agent, job, error) => this.#mender !== undefined && this.#onExpelled(agent, job, error),
    });
    this.overlay = new TreeOverlay(deps.node);
    this.failures = new ControllerFailures({
      node: deps.node, holds: this.holds, scope: deps.scope, overlay: this.overlay,
      table: () => this.table,
      hostName: (host) => this.hostName(host),
      declare: (host, incarnation, declared) => this.#mender?.declare(host, incarnation, declared),
      onRecord: (record) => this.#onRecord(record),
      emit: (event) => this.#emit(event),
    });
    this.allocationEnd = new AllocationEnd({
      clock: deps.node.platform.clock, holds: this.holds, bootstrap: () => this.#bootstrap,
      jobs: () => [...this.#jobs.values()],
      onEnding: (error) => deps.observer?.onEnding(error),
    });
    this.#listen();
    // What is sent to a host that is being linked again waits for a route.
    this.node.messages.transport.isGone = (agent) => this.#mender === undefined || isGoneFrom(this.table, agent);
  }

  /** Once all wanted hosts are up or left out. */
  get #mender(): TreeMender | undefined {
    return this.#bootstrap?.mender;
  }

  get table(): MembershipTable | undefined {
    return this.#bootstrap?.table;
  }

  hostName(host: HostIndex): string {
    return (this.table as MembershipTable).nameOf(host);
  }

  get jobs(): readonly JobId[] {
    return [...this.#jobs.keys()];
  }

  get agents(): readonly AgentOfJob[] {
    return [...this.failures.rootAgents, ...[...this.#jobs.values()].flatMap((job) => job.agents)];
  }

  warn(text: string): void {
    this.#emit({ type: 'warning', text });
  }

  jobOf(job: JobId): ControllerJob | undefined {
    return this.#jobs.get(job);
  }

  get stays(): boolean {
    return this.#deps.observer !== undefined;
  }

  /** Starts the agents of all hosts. Throws StciError if they cannot be started; nothing has been started then. */
  open(allocation: Allocation): void {
    if (this.#bootstrap !== undefined) throw new StciError('STCI_JOB_INVALID', 'The session is open already');
    const { hosts, spares } = allocation;
    if (hosts.length === 0) throw new StciError('STCI_JOB_INVALID', 'Expected at least one host, got none');
    const { scope, agentLauncher, snapshot } = this.#deps;
    agentLauncher.plan([...hosts, ...spares]);
    checkFailureParts(scope, this.node.params, hosts.length, this.stays);
    checkOverlay(scope, this.node.params, [...hosts, ...spares]);
    const tree = sessionTree(scope, hosts, this.node.params);
    const errorManager = scope.errorManager(this.node.params);
    this.#bootstrap = new Bootstrap(
      { node: this.node, agentLauncher, tree, errorManager, hosts, spares, stays: this.stays, snapshot },
      {
        emit: (event) => this.#emit(event),
        onReady: () => this.#onReady(),
        onAborted: (failures) => this.#onAborted(failures),
        onStartFailed: (...failure) => this.failures.onStartFailed(...failure),
        onLaunchEnding: (host, reason) => this.failures.onLaunchEnding(host, reason),
        onEnding: (error) => this.allocationEnd.begin(error),
      },
      {
        onLost: (lost) => this.#onHostLost(lost),
        onMended: (mended, isNew) => this.#onMended(mended, isNew),
        onKept: () => this.slots.room.soon(),
        onStarting: (host) => this.#expulsion.forgive(host),
        onStartFailed: (...failure) => this.failures.onStartFailed(...failure),
        onStarted: (host, error) => this.#onStarted(host, error),
      },
    );
    this.tellServices((service) => service.onOpen?.(hosts, spares));
    this.#bootstrap.start();
  }

  /** Ends all agents; calls `done` when none is left. */
  stop(done: () => void): void {
    this.holds.close();
    if (this.#bootstrap === undefined) return done();
    this.#changes = undefined;
    this.node.messages.sendSubtree('session.end', {}, 0);
    this.#mender?.finish();
    // Orphans are linked again to be stopped: nothing else would end them before their lease is over.
    const settle = (settled: () => void): void => this.#mender === undefined ? settled() : this.#mender.settle(settled);
    this.#bootstrap.stop(settle, () => {
      // Over a slow link, a goodbye takes longer: nobody is left to hear it.
      for (const link of this.node.router.links()) if (link.role === 'overlay') link.destroy('all agents have ended');
      done();
    });
  }

  /** For `stci ps`. */
  hosts(): readonly HostStatus[] {
    return this.#bootstrap === undefined ? [] : hostStatus(this.#bootstrap.table, this.slots.taken());
  }

  get spares(): readonly string[] {
    return this.#bootstrap?.recovery.spares.map(({ name }) => name) ?? [];
  }

  /** Throws STCI_SESSION_REFUSED where its agents are not all there. */
  get hostChanges(): ElasticHosts {
    if (this.#changes !== undefined) return this.#changes;
    const isStarting = this.#mender === undefined;
    const text = isStarting ? 'The hosts of the session are being started. Try again.' : ENDED_TEXT;
    throw new StciError('STCI_SESSION_REFUSED', text);
  }

  takeOverdue(): readonly string[] {
    if (!this.stays) this.failures.onLaunchTimeout();
    return (this.#bootstrap as Bootstrap).missing;
  }

  get members(): JobSession['members'] {
    return this.table as MembershipTable;
  }

  passLaunch(launch: Launch, job: JobId): StciError | undefined {
    return (this.#bootstrap as Bootstrap).below.passLaunch(launch, job);
  }

  onOver(job: JobId, launched: boolean): void {
    this.slots.drop(this.#jobs.get(job) as ControllerJob);
    this.#jobs.delete(job);
    this.tellServices((service) => service.onGone?.({ job }));
    this.node.messages.transport.closeJob(job);
    if (launched) this.#bootstrap?.below.passClose(job);
    this.#changes?.onJobOver();
    if (this.#jobs.size > 0) this.slots.room.soon();
  }

  #listen(): void {
    const { messages } = this.node;
    messages.on('agent.up', (up) => this.#bootstrap?.onUp(up));
    messages.on('agent.failed', (found, from) => {
      this.#onAgentFailed(found, from, this.#expulsion.acceptReport(from, found));
    });
    messages.on('agent.ending', ({ host }) => this.allocationEnd.onHost(host));
    listenForJobs(messages, (job) => this.jobOf(job));
  }

  /**
   * Throws StciError if the job cannot be run; nothing has been started then. `onAdmitted`: it can, and nothing has
   * happened to it.
   */
  submit(spec: JobSpec, onAdmitted: (job: ControllerJob) => void): void {
    if (this.#bootstrap === undefined) throw new StciError('STCI_JOB_INVALID', 'The session has no hosts yet');
    if (this.#lastJob === JOB_MAX) {
      throw new StciError('STCI_JOB_INVALID', `A session runs at most ${JOB_MAX} jobs: stop it and start another`);
    }
    this.allocationEnd.check();
    if (this.holds.isClosed) throw new StciError('STCI_SESSION_REFUSED', ENDED_TEXT);
    const { job, begin } = this.slots.admit({ session: this, job: this.#lastJob + 1, spec });
    this.#lastJob = job.job;
    this.#jobs.set(job.job, job);
    onAdmitted(job);
    job.start();
    if (this.#mender !== undefined) begin();
    else if (this.#aborted !== undefined) job.onAborted(this.#aborted);
  }

  #onReady(): void {
    const bootstrap = this.#bootstrap as Bootstrap;
    this.#changes = new ElasticHosts({
      node: this.node, holds: this.holds, bootstrap,
      jobs: () => this.slots.placed,
      placeSoon: () => this.slots.room.soon(),
      checkSize: (size) => {
        bootstrap.tree.checkSize(size);
        creditBytes(this.node.params, size);
        checkFailureParts(this.scope, this.node.params, size, true);
      },
    });
    this.tellServices((service) => service.onReady?.());
    this.failures.start();
    this.#deps.observer?.onReady();
    // A launch says the same.
    if (this.#jobs.size === 0) this.node.messages.sendSubtree('session.ready', {}, 0);
    const { hosts, leftOut } = this.slots.places;
    for (const job of [...this.#jobs.values()]) job.onReady(hosts, leftOut);
  }

  #onAborted(failures: readonly Failure[]): void {
    this.#aborted = failures;
    this.#deps.observer?.onAborted(failures);
    for (const job of [...this.#jobs.values()]) job.onAborted(failures);
  }

  /** Hosts have been linked again: what may have been lost on the way to them is sent again. */
  #onMended(hosts: readonly HostIndex[], isNew: boolean): void {
    const [host] = hosts as [HostIndex];
    if (isNew) this.failures.onMended(host, this.table?.get(host).parent);
    const mended = new Set(hosts);
    this.node.messages.transport.resend((agent) => isOnHost(agent, mended));
    for (const job of this.#jobs.values()) job.onMended(mended);
    const jobs = { last: this.#lastJob, running: [...this.#jobs.keys()] };
    this.node.messages.send(rootAddress(host), 'session.jobs', jobs);
    this.slots.room.soon();
  }

  /** A root agent's failure is the bootstrap's, or the tree's; a session agent's is its job's. */
  #onAgentFailed(found: MessageBody<'agent.failed'>, { source, job }: MessageContext, error: StciError): void {
    const { agent, incarnation, evidence } = found;
    if (addressKind(agent) !== 'root') return this.#onSessionLost(agent, job, error, found.session);
    const reporter = source === CONTROLLER ? undefined : addressIndex(source);
    const report = { host: addressIndex(agent), reporter, incarnation, evidence, text: error.message };
    this.#bootstrap?.onFailed(report, error);
  }

  /** Its link is being closed, and it is not linked again. */
  #onExpelled(agent: Address, job: JobId, error: StciError): void {
    if (addressKind(agent) !== 'root') return this.#onSessionLost(agent, job, error);
    const { host, parent, incarnation } = (this.#bootstrap as Bootstrap).table.get(addressIndex(agent));
    this.#mender?.lost({ host, reporter: parent, incarnation, evidence: 'exited', text: error.message }, error);
  }

  #onSessionLost(agent: Address, job: JobId, error: StciError, session?: SessionFailure): void {
    const host = addressIndex(agent);
    this.tellServices((service) => service.onGone?.({ host, job }));
    const wallMs = this.node.platform.clock.wallMs();
    this.#jobs.get(job)?.onHostLost(hostFailure('session-lost', host, toErrorRecord(error), wallMs), session);
  }

  /** A host is given up: for the loss of its own link, or because nobody reached it when the one above was lost. */
  #onHostLost({ host, was, cause, report, declared }: MendAction & { readonly type: 'lost' }): void {
    const bootstrap = this.#bootstrap as Bootstrap;
    const { table } = bootstrap;
    const own = declared?.error ?? report?.news?.error;
    const error = own === undefined ? cutOffRecord(table.specs, host, cause) : toErrorRecord(own);
    const kind = error.code === 'STCI_LAUNCH_FAILED' ? 'agent-launch' : 'agent-lost';
    const loss = bootstrap.failureOf(host, kind, error);
    this.tellServices((service) => service.onGone?.({ host }));
    this.slots.room.soon();
    this.allocationEnd.onLost();
    this.node.messages.transport.drop(rootAddress(host));
    this.node.messages.transport.drop(sessionAddress(host));
    if (was.start === undefined) this.#changes?.onLost(host);
    if (was.isLeaving) return this.failures.onLeft(host);
    this.failures.onHostLost(host, error, report, declared?.notice);
    // No job has been given it.
    if (was.start !== undefined) return this.#onStarted(host, fromErrorRecord(error));
    const phase = (this.slots.taken()[host] ?? 0) > 0 ? 'running' : 'idle';
    for (const job of [...this.#jobs.values()]) job.onHostLost(loss);
    bootstrap.decide(phase, { ...loss, kind: 'agent-lost' });
  }

  /** One that was started while the session ran. If nobody asked for that, it had been lost. */
  #onStarted(host: HostIndex, error: StciError | undefined): void {
    const isAsked = this.#changes?.onStarted(host, error) === true;
    const bootstrap = this.#bootstrap as Bootstrap;
    if (isAsked || error === undefined) return;
    bootstrap.decide('idle', bootstrap.failureOf(host, 'agent-launch', toErrorRecord(error)));
  }

  /** Of a tool, its job is told; of a host, in a session that stays, the jobs that had ranks there. */
  #onRecord(record: FailureRecord): void {
    const event = { type: 'failure-record', record } as const;
    this.#deps.observer?.onEvent(event);
    const { subject, lostRanks } = record;
    for (const job of this.#jobs.values()) {
      const isOwn = subject.kind === 'host' ? !this.stays : subject.job === job.job;
      if (isOwn || lostRanks.some((lost) => lost.job === job.job)) job.front.emit(event);
    }
  }

  /** Jobs that run are told what is done about lost hosts; that one is left out, they know from their own failures. */
  #emit(event: JobEvent): void {
    if (event.type === 'host-up' && this.#mender !== undefined) {
      this.tellServices((service) => service.onUp?.(event.host));
      this.failures.onUp(event.host);
    }
    if (event.type === 'recovery') this.failures.onRecovery(event);
    this.#deps.observer?.onEvent(event);
    const isLeftOut = event.type === 'recovery' && event.action === 'leave-out';
    const isForAll = this.#mender !== undefined && !isLeftOut;
    for (const job of this.#jobs.values()) if (isForAll || job.phase === 'launching') job.front.emit(event);
    if (event.type === 'host-up' || isLeftOut) this.slots.room.soon();
  }
}
