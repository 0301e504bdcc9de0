/**
 * Root agent (STCI paper, II-A): one per host. Starts the root agents below it in the boot tree and a session agent for
 * each job, forwards a job's launch, reports failures to the controller. It stops when its parent asks or is gone,
 * after all agents below it.
 */

import {
  CONTROLLER,
  addressIndex,
  bootPosition,
  sessionAddress,
  toErrorRecord,
  type Address,
  type BootTree,
  type HostIndex,
  type JobId,
  type SignalName,
} from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import { encodeAnswer, type AdoptionListener } from '../boot/adoption.js';
import type { AgentLauncher } from '../boot/agent-launcher.js';
import { BootSubtree } from '../boot/boot-subtree.js';
import type { ChildFailure } from '../boot/child.js';
import type { BootDetails } from '../launcher/boot-details.js';
import type { AdoptionAnswer } from '../membership/mender.js';
import type { SessionFailure } from '../messages/failure-shapes.js';
import type { Launch, MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { TreeOverlay } from '../peers/tree-overlay.js';
import { AgentServices } from '../service/agent-services.js';
import type { Service } from '../service/contracts.js';
import { SessionAgents } from '../tools/session-agents.js';
import { answerSurveys } from './link-survey.js';

export interface RootDeps {
  readonly node: AgentNode;
  readonly details: BootDetails;
  /** The boot tree over so many hosts. */
  treeOf(hosts: number): BootTree;
  readonly agentLauncher: AgentLauncher;
  readonly incarnation: number;
  readonly overlay: TreeOverlay;
  /** Undefined: this agent cannot be linked to another parent. */
  readonly adoption: AdoptionListener | undefined;
  /** It is all of its process. */
  readonly ownsProcess: boolean;
  /** It ends as by SIGKILL. */
  readonly killSelf: () => void;
  /** Ends this agent as failed; the agent that started it reports the reason. */
  readonly fail: (reason: string) => void;
  /** The others have given this agent up: it ends with its tools at once. */
  readonly fence: (reason: string) => void;
  /** This agent does not hear the controller: it is as if its parent were lost. */
  readonly cutOff: (reason: string) => void;
  readonly parentGone: () => void;
  /** The agent above is cut off: another may link to this one within so long. */
  readonly onReleased: (waitMs: number) => void;
  readonly scope: AgentScope;
  readonly services: readonly Service[];
}

/** For the answers of the session agents here. */
const FORWARD_MS = 5000;

export class RootAgent {
  readonly #deps: RootDeps;
  readonly #host: HostIndex;
  readonly overlay: TreeOverlay;
  readonly #below: BootSubtree;
  readonly #sessions: SessionAgents;
  readonly #services: AgentServices<'root'>;
  #stopping = false;
  /** It leaves the session: others link to the agents below. */
  #isLeaving = false;
  /** All agents of the session have come up; before, those below a lost one are started again. */
  #isReady = false;
  /** It, or an agent above, has no parent: it may be linked to another before that one is given up. */
  #isCutOff = false;
  /** The session is about to end. */
  #isFinal = false;

  constructor(deps: RootDeps) {
    this.#deps = deps;
    const { node, node: { messages }, agentLauncher, treeOf, details } = deps;
    this.#host = details.host;
    this.overlay = deps.overlay;
    node.messages.on('overlay.detour', () => this.overlay.detour());
    const position = bootPosition(details.host);
    const { hosts, tree, outlivesParent, params, subtree: logins } = details;
    this.#below = new BootSubtree(
      { node, agentLauncher, treeOf, position, logins, common: { hosts, tree, outlivesParent, params } },
      { onFailed: (failure) => this.#report(failure), onUp: () => undefined },
    );
    this.#sessions = new SessionAgents({
      node, scope: deps.scope, agentLauncher, details,
      onFailed: (failure, session) => {
        this.#services.tell((service) => service.onSessionGone?.(failure.job));
        this.#report(failure, session);
      },
    });
    this.#services = new AgentServices('root', deps.services, {
      node, scope: deps.scope, ownsProcess: deps.ownsProcess, overlay: this.overlay, hosts: details.hosts,
      sessions: this.#sessions, killSelf: deps.killSelf,
      losses: deps,
    }, (error, name) => deps.fail(`service ${name}: ${error.message}`));
    node.holds.holdAll(() => this.#services.labels, () => this.#services.stop('its root agent stops'));
    answerSurveys(node);
    messages.on('failure.report', ({ ranks }, { job }) =>
      this.#services.tell((service) => service.onToolsFailed?.(job, ranks)));
    messages.on('job.launch', (launch, { job }) => this.#onLaunch(launch, job));
    messages.on('job.signal', () => undefined); // The frame itself is forwarded to the session agent.
    messages.on('job.end', (_end, { job }) => this.#sessions.onEnd(job));
    messages.on('job.close', (_body, { job }) => this.#onJobClose(job));
    messages.on('tree.start', ({ subtree, isLate }) => this.#below.startHost(subtree, isLate));
    messages.on('agent.expel', ({ agent, reason }, { job }) => this.#expel(agent, reason, job));
    messages.on('tree.adopt', ({ attempt, ...request }) =>
      this.#below.adopt(request, (answer) => this.#onAnswer(attempt, answer)));
    messages.on('tree.route', ({ child, hosts: reached }) => this.#below.route(child, reached));
    messages.on('tree.mended', () => this.onMended());
    messages.on('tree.orphaned', () => this.#onCutOff());
    messages.on('tree.release', ({ waitMs }) => deps.onReleased(waitMs));
    messages.on('session.jobs', (jobs) => this.#onJobs(jobs));
    messages.on('session.ready', () => void (this.#isReady = true));
    messages.on('session.end', () => {
      this.#isFinal = true;
      this.#services.tell((service) => service.onSessionEnding?.());
    });
  }

  /** Starts the agents below, and reports to the controller that this one is up once others can link to it. */
  start(): void {
    const { node, agentLauncher, adoption, fail } = this.#deps;
    agentLauncher.ready((error) => {
      if (this.#stopping) return;
      if (error !== undefined) {
        node.fault(error, 'listener');
        return fail(error.message);
      }
      this.#below.start();
      if (adoption === undefined) this.#reportUp();
      else adoption.open(() => this.#stopping || this.#reportUp());
    });
  }

  /** It waits for another parent if it loses its own. */
  get outlivesParent(): boolean {
    return this.#deps.adoption?.path !== undefined && this.#isReady && !this.#stopping && !this.#isFinal;
  }

  onOrphaned(): void {
    this.overlay.detour();
    this.#onCutOff();
  }

  /** Those below that can be reached from elsewhere are not to end with this agent. */
  release(waitMs: number): void {
    const { messages, router } = this.#deps.node;
    for (const link of router.childLinks(0)) messages.sendNeighbour(link, 'tree.release', { waitMs });
  }

  /** It answers: the controller is not heard for another reason, and may be soon. */
  onParentHeard(): void {
    this.#services.tell((service) => service.onMended?.());
  }

  isParentDoubted(): boolean {
    return this.#isCutOff || this.overlay.isParentDoubted;
  }

  /** An agent above, or this one, has a new parent: what was lost on the way up is sent again, here and below. */
  onMended(): void {
    const { node } = this.#deps;
    const { messages, router } = node;
    this.#isCutOff = false;
    this.#services.tell((service) => service.onMended?.());
    node.resendUp();
    for (const link of router.links()) if (link.role === 'child') messages.sendNeighbour(link, 'tree.mended', {});
  }

  /** This agent, or one above, has no parent. */
  #onCutOff(): void {
    this.#isCutOff = true;
    const { messages, router } = this.#deps.node;
    for (const link of router.childLinks(0)) messages.sendNeighbour(link, 'tree.orphaned', {});
  }

  #reportUp(): void {
    const { node, adoption, incarnation } = this.#deps;
    const { pid, network } = node.platform.env;
    const up = { host: this.#host, pid, network, incarnation, socket: adoption?.path };
    node.messages.send(CONTROLLER, 'agent.up', up);
  }

  #onAnswer(attempt: number, answer: AdoptionAnswer): void {
    this.#deps.node.messages.send(CONTROLLER, 'tree.adopted', { attempt, ...encodeAnswer(answer) });
  }

  /** Stops the session agent with its tools and the root agents below at the same time. */
  stop(done: () => void): void {
    this.#stopping = true;
    // One that leaves alone is heard by the others as long as its tools take.
    this.#services.stop('its root agent stops', this.#isLeaving);
    let missing = 2;
    const one = (): void => {
      missing -= 1;
      if (missing > 0) return;
      this.#services.stop('its root agent stops');
      done();
    };
    this.#sessions.stop('the root agent stops', one);
    if (!this.#isLeaving) return this.#below.stop('the parent agent stops', one);
    this.#below.abandon();
    one();
  }

  /** Ends its tools as SIGKILL does; the agents below are others' from now on. */
  end(): void {
    this.#sessions.endJobs('the agent of this host was given up');
  }

  /** What started this process has told it to end, with all that runs here: the controller decides. */
  onTerminated(): void {
    this.#sessions.onTerminated();
    this.#deps.node.messages.send(CONTROLLER, 'agent.ending', { host: this.#host });
  }

  forward(signal: SignalName): void {
    this.#sessions.signal(signal, FORWARD_MS, (problem) => {
      if (problem !== undefined) this.#deps.node.fault(problem, `forwarding ${signal}`);
    });
  }

  leave(done: () => void): void {
    this.#isLeaving = true;
    this.stop(done);
  }

  #onLaunch(launch: Launch, job: JobId): void {
    this.#isReady = true;
    const own = launch.hosts.filter(([host]) => host === this.#host);
    if (own.length > 0) this.#sessions.onLaunch({ ...launch, hosts: own }, job);
    this.#below.passLaunch(launch, job);
  }

  #onJobClose(job: JobId): void {
    this.#below.passClose(job);
    this.#closeJob(job);
  }

  /** Of jobs that were over while this agent had no parent, it was not told. */
  #onJobs(jobs: MessageBody<'session.jobs'>): void {
    const { messages, router } = this.#deps.node;
    const running = new Set(jobs.running);
    const known = new Set([...this.#sessions.jobs, ...messages.transport.broadcastJobs]);
    for (const job of known) if (job !== 0 && job <= jobs.last && !running.has(job)) this.#closeJob(job);
    for (const link of router.childLinks(0)) messages.sendNeighbour(link, 'session.jobs', jobs);
  }

  #closeJob(job: JobId): void {
    this.#sessions.close(job);
    this.#services.tell((service) => service.onSessionGone?.(job));
    this.#deps.node.messages.transport.closeJob(job);
  }

  #expel(agent: Address, reason: string, job: JobId): void {
    if (agent === sessionAddress(this.#host)) this.#sessions.expel(reason, job);
    else this.#below.expel(addressIndex(agent), reason);
  }

  #report({ job, error, ...failure }: ChildFailure, session?: SessionFailure): void {
    const found = { ...failure, session, error: toErrorRecord(error) };
    this.#deps.node.messages.send(CONTROLLER, 'agent.failed', found, job);
  }
}
