/**
 * Services of agents: what agents do besides starting, watching and ending programs. The agents know what is written
 * here, and no service. Of each they have a declaration; its code is loaded when the first message for it comes, or a
 * job asks for it: the parameters say whether one does.
 */

import type {
  Bootcom, Channel, ErrorCode, ErrorRecord, FaultModule, Framework, HostIndex, HostSpec, JobEvent, JobId, NoDeps,
  NotifierModule, Params, Rank, RankReport, SignalName, Spawn, SpawnDone, SpawnRequest, StciError, Topology,
} from '@stci/interface';
import type { RankBinding } from '../binding/plan.js';
import type { SelectedDetector } from '../detector/selected.js';
import type { Scope } from '../event/scope.js';
import type { Ledger } from '../job/ledger.js';
import type { MembershipTable } from '../membership/table.js';
import type { AgentOfJob } from '../messages/collected.js';
import type { ToolEvidence } from '../messages/failure-shapes.js';
import type { MessageName } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { TreeOverlay } from '../peers/tree-overlay.js';
import type { Loadable } from './loadable.js';

/** The declaration of a service. Its messages are rows that it has added to the table. */
export interface Service {
  readonly name: string;
  /** By where it runs, the messages that it handles there. */
  readonly messages: Readonly<Partial<Record<keyof Places, readonly MessageName[]>>>;
  /** Messages to all agents of a job, and collections of them: root agents pass them on, and do nothing with them. */
  readonly passed?: readonly MessageName[];
  /** Whether it takes part in a job with these parameters, from before the first rank is started. */
  wants?(params: Params, scope: ServiceScope): boolean;
  /** Whether agents of a session with these parameters have it from their start, where it has messages. */
  isOfAgents?(params: Params): boolean;
  /** What a job has of it at its session agent from the start: little, which is always loaded. */
  readonly job?: (place: JobPlace) => JobService;
  readonly code: Loadable<ServiceCode>;
}

/** Opens a service, by where it runs. It sets the handlers of its messages. */
export interface ServiceCode {
  readonly root?: (place: RootPlace) => OpenService;
  readonly session?: (place: SessionPlace) => OpenService;
  readonly controller?: (place: ControllerPlace) => OpenService;
  readonly job?: (place: JobPlace) => JobService;
}

export interface OpenService {
  /** The agent stops. */
  stop(reason: string): void;
  /** Nothing is left of what it was opened for: it is not among what the agent holds. */
  readonly isIdle?: boolean;
  /** Where an agent leaves its session alone, it is stopped last, after the tools there. */
  readonly isLast?: true;
  /** At a root agent: the session is about to end. */
  onSessionEnding?(): void;
  /** At a root agent: its parent is linked again, or answers. */
  onMended?(): void;
  /** At a root agent: detectors of tools here have reported these. */
  onToolsFailed?(job: JobId, ranks: readonly ToolEvidence[]): void;
  /** At a root agent: its session agent of this job is lost, or the job is over. */
  onSessionGone?(job: JobId): void;
  /** At the controller: the agents of these hosts are about to be started. */
  onOpen?(hosts: readonly HostSpec[], spares: readonly HostSpec[]): void;
  /** At the controller: all hosts are up or left out. */
  onReady?(): void;
  /** At the controller, after that: the agent of a host came up. */
  onUp?(host: HostIndex): void;
  /** At the controller: these agents are gone for good. */
  onGone?(gone: Gone): void;
}

/** The root agent of a host; or the session agents of a job, or that on one host. */
export interface Gone {
  readonly host?: HostIndex;
  readonly job?: JobId;
}

export interface Places {
  readonly root: RootPlace;
  /** A session agent, from its start on. */
  readonly session: SessionPlace;
  readonly controller: ControllerPlace;
  /** A session agent, once its job is launched. */
  readonly job: JobPlace;
}

/** What agents have of the modules that are chosen by parameters. */
export interface ServiceScope {
  /** A kind of fault. Throws STCI_MCA_*. */
  fault(kind: string): FaultModule;
  /** In the session's parameters. */
  detectors(): readonly SelectedDetector[];
  /** As users write it. Throws STCI_TOPOLOGY_INVALID or STCI_MCA_*. */
  topologyOf(text: string, size: number): Topology;
  bootcom(kind: string): Bootcom;
  /** Name of the launcherproc for these hosts. Throws if none accepts them. */
  launchMethod(hosts: readonly HostSpec[]): string;
  /** Throws STCI_MCA_*. */
  notifier(name: string): NotifierModule;
  /** Modules of a framework of mode many that a job with these parameters has. Throws STCI_MCA_*. */
  selected<Module>(
    framework: Framework<Module, NoDeps>, params: Params,
  ): readonly { readonly name: string; create(): Module }[];
}

export interface Place {
  readonly node: AgentNode;
  readonly scope: ServiceScope;
  /** The agent is all of its process. */
  readonly ownsProcess: boolean;
}

export interface RootPlace extends Place {
  readonly overlay: TreeOverlay;
  /** Number of the session's hosts, as this agent was started. */
  readonly hosts: number;
  /** Its session agents. */
  readonly sessions: {
    readonly jobs: Iterable<JobId>;
    /** As SIGKILL does; without `job`: of all jobs. Returns why it cannot. */
    kill(job?: JobId): string | undefined;
    /** To the ranks of all jobs here. `done`, once: all have got it; or why that is not certain. */
    signal(signal: SignalName, timeoutMs: number, done: (problem?: string) => void): void;
  };
  readonly losses: {
    /** This agent is dead to the others. */
    fence(reason: string): void;
    /** This agent does not hear the controller: its parent's link is of no use. */
    cutOff(reason: string): void;
    /** Nor where its parent is dead, whose link may be open still: another agent may link to this one. */
    parentGone(): void;
  };
  /** This agent ends as by SIGKILL. */
  killSelf(): void;
}

export interface SessionPlace extends Place {
  /** A rank that runs here. */
  toolOf(rank: Rank): ToolPlace | undefined;
  /** A service of the job has its program end itself. Returns why it cannot be told. */
  exit(rank: Rank, status: number): string | undefined;
}

export interface ToolPlace {
  /** Returns whether a process was there to get it. */
  signal(name: SignalName, whom?: 'process' | 'group'): boolean;
}

export interface ControllerPlace extends Place {
  readonly overlay: TreeOverlay;
  /** For the user. */
  warn(text: string): void;
  readonly session: SessionPlaces & { hostName(host: HostIndex): string };
  /** A job that is not over. */
  jobOf(job: JobId): ServedJob | undefined;
}

/** Hosts and ranks of a session. */
export interface SessionPlaces {
  /** Once it has been opened. */
  readonly table: MembershipTable | undefined;
  /** Jobs that are not over. */
  readonly jobs: readonly JobId[];
  /** Root and session agents that run. */
  readonly agents: readonly AgentOfJob[];
  /** One that is not over. */
  jobOf(job: JobId): JobPlaces | undefined;
}

/** Where the ranks of a job are. */
export interface JobPlaces {
  /** Where a rank runs now. */
  hostOf(rank: Rank): HostIndex | undefined;
  /** Ranks of its map on a host that it has not lost. */
  ranksOn(host: HostIndex): number;
}

/** A job at the controller. */
export interface ServedJob {
  /** What a service does for this job: made by its first call. */
  service<Hooks extends JobHooks>(name: string, make: (of: JobAtController) => Hooks): Hooks;
}

export interface JobAtController {
  readonly node: AgentNode;
  /** Of the job: it is closed when that has ended. */
  readonly holds: Scope;
  readonly job: JobId;
  readonly params: Params;
  readonly ledger: Ledger;
  readonly front: JobOwner;
  /** A rank has the job end, with this exit code, 1..255, and a text for people. */
  abort(by: AbortingRank): void;
  /** Ranks whose host was lost before they started are to run elsewhere: they have neither run nor an outcome. */
  isPlacing(): boolean;
  /**
   * Starts further ranks of the job. `done` is called once, before this returns, with the ranks or with why there are
   * none. What is sent in it comes to session agents that run before the ranks do. One that is started for the ranks
   * is not there yet: a part there has to ask before it is open.
   */
  spawn(request: SpawnRequest, done: SpawnDone): void;
}

export interface AbortingRank {
  readonly rank: Rank;
  readonly host: HostIndex;
  readonly code: ErrorCode;
  readonly exitCode: number;
  /** What it did, behind its name. */
  readonly message: string;
}

/** Whom a job's services concern at the controller. */
export interface JobOwner {
  emit(event: JobEvent): void;
  /** What could not be sent ends the job. */
  check(unsent: StciError | undefined): void;
}

/** A service is told what becomes of the ranks of a job. */
export interface JobHooks {
  /** Attempts of ranks run. */
  onStarted?(): void;
  onEnded(report: RankReport): void;
  /** An attempt of a rank has ended, and another follows. */
  onRestarting(report: RankReport): void;
  /** Its session agent answers no more; another may take its place. */
  onHostLost(host: HostIndex): void;
  /** Calls `done` with what the ranks wait for, in words; '' if for nothing. */
  askWaits?(done: (text: string) => void): void;
}

export interface JobPlace extends Place {
  /** Closed when the agent stops. */
  readonly holds: Scope;
  readonly host: HostIndex;
  readonly hostName: string;
  readonly job: JobId;
  /** Nobody else can guess it: of names that agents of the job share. */
  readonly token: string;
  /** With the job's own. */
  readonly params: Params;
  /** Number of its ranks, as it was launched. */
  readonly size: number;
  /** The spawn of a rank that is started here; undefined: it was launched with the job. */
  spawnOf(rank: Rank): Spawn | undefined;
  /** Number of its hosts. */
  readonly hosts: number;
  /** A sign of life of a rank, and the promise of the next within this time; 0: the promise is taken back. */
  onAlive(rank: Rank, withinMs: number): void;
  /** As if the rank had written it to its standard error. */
  say(rank: Rank, bytes: Uint8Array): void;
  /** To its process. */
  signal(rank: Rank, signal: SignalName): void;
  /** Processors of a rank that is here; undefined: it is not bound. */
  bindingOf(rank: Rank): Pick<RankBinding, 'cpus' | 'locality'> | undefined;
  /** Of a rank that runs here. */
  processOf(rank: Rank): { readonly pid: number; readonly program: string } | undefined;
}

/** A service in one job, at its session agent on one host. */
export interface JobService {
  /** Calls `done` when ranks can be started, or with why they cannot. */
  open(done: (error?: ErrorRecord) => void): void;
  /** The process of a rank is about to be started: returns variables of its environment. */
  add(rank: Rank, attempt: number): Readonly<Record<string, string>>;
  /** It inherits a socket, whose other end this gets once it runs; undefined: none. */
  socketOf?(rank: Rank): ((channel: Channel) => void) | undefined;
  /** Its process has ended with status 0: why that is a failure; undefined: it is none. */
  complaintOf?(rank: Rank): ErrorRecord | undefined;
  /** Nobody waits here to be started any longer. */
  onStarted?(): void;
  /** It has ended; `isWell`: with status 0, as it should. */
  remove(rank: Rank, isWell: boolean): void;
  /** Variables that it has unless its user or its program's options say otherwise. */
  defaults?(): Readonly<Record<string, string>>;
  /** A rank has failed, here or elsewhere, as a detector says. */
  onRankFailed?(rank: Rank, attempt: number, reason: string): void;
  /** Has the program of a rank end itself. Returns why it cannot be told. */
  exit?(rank: Rank, status: number): string | undefined;
}
