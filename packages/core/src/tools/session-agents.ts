/**
 * The session agents of a host, at its root agent, which starts one for each job; and their local recovery manager
 * (STCI paper, II-F.4). If one is lost, and the job's error manager says so, another is started without asking the
 * controller, which is told. It comes up while the pause of its ranks runs, and waits for them: which have ended, and
 * at which attempt the others are, only the controller knows, which sends them with its next launch, here or elsewhere.
 */

import {
  sessionAddress, toErrorRecord, entryOf, type Address, type AgentMethod, type AgentProcess, type HostIndex,
  type JobId, type SignalName, type StciError,
} from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import type { AgentLauncher } from '../boot/agent-launcher.js';
import type { ChildSupervisor } from '../boot/child-supervisor.js';
import type { ChildFailure } from '../boot/child.js';
import { Timers } from '../event/timers.js';
import { encodeBootDetails, type BootDetails } from '../launcher/boot-details.js';
import { hostSpec, type HostLogin } from '../launcher/host-login.js';
import type { SessionFailure } from '../messages/failure-shapes.js';
import type { Launch, MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';

export interface SessionAgentsInit {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  readonly agentLauncher: AgentLauncher;
  /** Of the root agent. */
  readonly details: BootDetails;
  onFailed(failure: ChildFailure, more: SessionFailure): void;
}

interface LocalJob {
  /** The last that came. Its `start` is its number. */
  launch?: Launch;
  /** Its end, which goes to the session agent by itself, may come before the launch. */
  isEnding: boolean;
  /** Of its agent, so far. */
  starts: number;
  /** The agent that runs, or is to be started, waits for the next launch. */
  isWaiting: boolean;
  /** Of its agent, for faults. */
  process?: AgentProcess;
}

export class SessionAgents {
  readonly #init: SessionAgentsInit;
  readonly #host: HostIndex;
  readonly #children: ChildSupervisor;
  readonly #jobs = new Map<JobId, LocalJob>();
  /** Pauses before starts. */
  readonly #pauses: Timers<JobId>;
  #isStopping = false;

  constructor(init: SessionAgentsInit) {
    this.#init = init;
    this.#host = init.details.host;
    this.#pauses = new Timers(init.node.platform.clock, init.node.holds, 'timer pause of job');
    this.#children = init.agentLauncher.supervise({
      onFailed: (failure) => this.#onFailed(failure),
      onUp: (_agent, job) => this.#onUp(job),
    });
  }

  get jobs(): Iterable<JobId> {
    return this.#jobs.keys();
  }

  /** A launch comes again when the host has been linked again. */
  onLaunch(launch: Launch, job: JobId): void {
    const local = this.#local(job);
    if (local.launch !== undefined && numberOf(launch) <= numberOf(local.launch)) return;
    local.launch = launch;
    if (!local.isWaiting || this.#pauses.has(job)) return this.#start(job, local);
    local.isWaiting = false;
    this.#onUp(job);
  }

  onEnd(job: JobId): void {
    this.#local(job).isEnding = true;
  }

  /** What runs on this host gets SIGTERM from outside. */
  onTerminated(): void {
    for (const job of this.#jobs.keys()) this.#send(job, 'host.ending', {});
  }

  /** Ends the tools as SIGKILL does. */
  endJobs(reason: string): void {
    for (const job of this.#jobs.keys()) this.#send(job, 'job.end', { kill: true, reason });
  }

  /** Kills the agent of this job, or of all, as SIGKILL does. Returns why it cannot. */
  kill(job?: JobId): string | undefined {
    const found = job === undefined ? [...this.#jobs.values()] : [this.#jobs.get(job)];
    for (const local of found) local?.process?.kill();
    return found.every((local) => local?.process === undefined) ? 'no session agent runs on this host' : undefined;
  }

  /** To the tools of all jobs. `done`, once: all have got it; or why that is not certain. */
  signal(signal: SignalName, timeoutMs: number, done: (problem?: string) => void): void {
    const { messages, router } = this.#init.node;
    const jobs = [...this.#jobs.keys()].filter((job) => router.link(this.#address, job) !== undefined);
    let [open, problem] = [jobs.length, undefined as string | undefined];
    if (open === 0) return done();
    const onAnswer = (error: StciError | undefined): void => {
      problem ??= error?.message;
      open -= 1;
      if (open === 0) done(problem);
    };
    for (const job of jobs) messages.request(this.#address, 'job.signal', { signal }, onAnswer, { timeoutMs, job });
  }

  close(job: JobId): void {
    this.#pauses.clear(job);
    this.#jobs.delete(job);
    if (!this.#isStopping) this.#children.release(this.#address, job, 'the job is over');
  }

  expel(reason: string, job: JobId): void {
    this.#children.expel(this.#address, reason, job);
  }

  stop(reason: string, done: () => void): void {
    this.#isStopping = true;
    this.#pauses.close();
    this.#children.stop(reason, done);
  }

  get #address(): Address {
    return sessionAddress(this.#host);
  }

  #local(job: JobId): LocalJob {
    return entryOf(this.#jobs, job, () => ({ isEnding: false, starts: 0, isWaiting: false }));
  }

  #start(job: JobId, local: LocalJob, isWaiting = false): void {
    const { details, node, agentLauncher } = this.#init;
    this.#pauses.clear(job);
    local.isWaiting = isWaiting;
    const login = details.subtree[0] as HostLogin;
    const method = node.params.string('launcher.session.method') as AgentMethod;
    const agent = { address: this.#address, host: hostSpec(login), method };
    agentLauncher.ready(() => {
      if (this.#jobs.get(job) !== local) return;
      local.starts += 1;
      const child: BootDetails = { ...details, subtree: [login], ...agentLauncher.connection() };
      const spec = agentLauncher.sessionSpec(agent, job, local.starts, encodeBootDetails(child));
      this.#children.relaunch({ ...spec, start: (events) => (local.process = spec.start(events)) });
    });
  }

  #onUp(job: JobId): void {
    const { launch, isWaiting } = this.#local(job);
    if (launch !== undefined && !isWaiting) this.#send(job, 'job.launch', launch);
  }

  #onFailed(failure: ChildFailure): void {
    const local = this.#jobs.get(failure.job);
    const launch = local === undefined || local.isWaiting ? 0 : numberOf(local.launch);
    const pauseMs = local === undefined ? undefined : this.#pauseOf(failure, local);
    this.#init.onFailed(failure, { launch, isReplaced: pauseMs !== undefined });
    if (local === undefined) return;
    local.isWaiting = pauseMs !== undefined;
    if (pauseMs === undefined) return;
    const start = (): void => this.#start(failure.job, local, true);
    if (pauseMs === 0) start();
    else this.#pauses.set(failure.job, pauseMs, start);
  }

  /** Before another is started; undefined: none is, unless the controller says so. */
  #pauseOf({ error }: ChildFailure, { launch, isEnding, starts }: LocalJob): number | undefined {
    const { node, scope } = this.#init;
    if (this.#isStopping || launch === undefined || isEnding) return undefined;
    const found = {
      kind: 'session-lost', error: toErrorRecord(error), host: this.#host, exitCode: error.exitCode,
      wallMs: node.platform.clock.wallMs(),
    } as const;
    const manager = scope.errorManager(scope.jobParams(launch.params));
    const action = manager.local?.(found, { of: 'agent', attempt: starts });
    return action?.type === 'restart' ? action.afterMs : undefined;
  }

  #send<Name extends 'job.end' | 'job.launch' | 'host.ending'>(job: JobId, name: Name, body: MessageBody<Name>): void {
    const { messages, router } = this.#init.node;
    const link = router.link(this.#address, job);
    if (link !== undefined) messages.sendNeighbour(link, name, body, job);
  }
}

function numberOf(launch: Launch | undefined): number {
  return launch?.start ?? 1;
}
