/**
 * Hosts that come to a session and leave it while it runs, at the controller. New hosts are started, and those again
 * that were lost or had left. A host that is to leave gets no more jobs; when those that it has are over, or at once by
 * force, its agent ends, and the mender has the agents below it linked to others. Each host gets an outcome of its own.
 */

import {
  StciError, rootAddress, toErrorRecord, type HostIndex, type HostSpec, type JobId,
} from '@stci/interface';
import { counted, didYouMean, formatDuration } from '@stci/registry';
import type { Scope } from '../event/scope.js';
import { Timers, heldTimer } from '../event/timers.js';
import type { HostFailure } from '../job/exit-rule.js';
import type { HostOutcome } from '../messages/session-messages.js';
import type { AgentNode } from '../node/node.js';
import type { Bootstrap } from './bootstrap.js';

export type HostsChanged = (outcomes: readonly HostOutcome[]) => void;

export interface RemoveOptions {
  /** Ranks that it has are ended and lost. */
  readonly force: boolean;
  /** Hosts that still have ranks then stay. */
  readonly timeoutMs?: number | undefined;
}

/** A job, as far as it has ranks on hosts. */
export interface JobOnHosts {
  readonly job: JobId;
  ranksOn(host: HostIndex): number;
  onHostLost(loss: HostFailure): void;
}

export interface ElasticHostsInit {
  readonly node: AgentNode;
  /** Of the session. */
  readonly holds: Scope;
  readonly bootstrap: Bootstrap;
  jobs(): Iterable<JobOnHosts>;
  /** Throws StciError if a session cannot have so many hosts. */
  checkSize(hosts: number): void;
  /** A host can be used again, or is awaited no more. */
  placeSoon(): void;
}

/** Called once: without an error, the host is up, or has left. */
type Done = (error: StciError | undefined) => void;

export class ElasticHosts {
  readonly #init: ElasticHostsInit;
  /** Whom to tell when a host has come or left, or does not. */
  readonly #waiting = new Map<HostIndex, Done[]>();
  readonly #timers: Timers<HostIndex>;

  constructor(init: ElasticHostsInit) {
    this.#init = init;
    this.#timers = new Timers(init.node.platform.clock, init.holds, 'timer end of host');
    init.holds.atEnd(() => this.#close());
  }

  /** Calls `done` when each of these hosts is up, or has failed. Throws StciError if none was started. */
  add(specs: readonly HostSpec[], done: HostsChanged): void {
    const { bootstrap, checkSize } = this.#init;
    const { table } = bootstrap;
    const known = this.#indices();
    const isTaken = (host: HostIndex | undefined): boolean => host !== undefined
      && (this.#isStarting(host) || !(table.isGone(host) || this.#mayStay(host)));
    const taken = specs.map(({ name }) => name).filter((name) => isTaken(known.get(name)));
    if (taken.length > 0) throw takenError(taken);
    checkSize(table.size + specs.filter(({ name }) => !known.has(name)).length);
    const settle = collect(specs.map(({ name }) => name), done);
    for (const spec of specs) {
      const { name } = spec;
      bootstrap.recovery.takeSpare(name);
      const host = known.get(name) ?? table.add(spec);
      if (table.isGone(host)) {
        this.#await(host, (error) => settle(name, error));
        bootstrap.startHost(host, spec);
      } else {
        this.#stay(host, new StciError('STCI_SESSION_REFUSED', `Host ${name} stays: it was added again.`));
        settle(name, undefined);
      }
    }
  }

  /** Calls `done` when each of these hosts has left, or stays. Throws StciError if none was asked to leave. */
  remove(names: readonly string[], { force, timeoutMs }: RemoveOptions, done: HostsChanged): void {
    const { node, holds, bootstrap } = this.#init;
    const { table } = bootstrap;
    const isThere = (host: HostIndex): boolean => table.get(host).state !== 'left' || this.#isStarting(host);
    const present = [...this.#indices()].filter(([, host]) => isThere(host));
    const all = new Map(present);
    const known = new Set([...all.keys(), ...bootstrap.recovery.spares.map(({ name }) => name)]);
    for (const name of names) if (!known.has(name)) throw unknownError(name, known);
    const hosts = names.flatMap((name) => all.get(name) ?? []);
    if (hosts.length > 0) this.#checkRest(hosts);
    const { clock } = node.platform;
    const timer = timeoutMs === undefined ? undefined : heldTimer(holds, clock, 'leave', timeoutMs, () => {
      for (const host of hosts.filter((each) => this.#mayStay(each))) this.#stay(host, this.#busy(host, timeoutMs));
    });
    const settle = collect(names, (outcomes) => {
      timer?.cancel();
      done(outcomes);
    });
    for (const name of names) if (bootstrap.recovery.takeSpare(name)) settle(name, undefined);
    for (const host of hosts) this.#remove(host, force, (error) => settle(table.nameOf(host), error));
  }

  /** A job is over. */
  onJobOver(): void {
    for (const host of this.#waiting.keys()) {
      if (this.#mayStay(host) && this.#jobsOn(host).length === 0) this.#leave(host);
    }
  }

  /** A start is over. Returns whether somebody asked for it. */
  onStarted(host: HostIndex, error: StciError | undefined): boolean {
    if (!this.#waiting.has(host)) return false;
    this.#settle(host, error);
    this.#init.placeSoon();
    return true;
  }

  /** A host is given up. */
  onLost(host: HostIndex): void {
    this.#settle(host, undefined);
  }

  #close(): void {
    const stopping = new StciError('STCI_SESSION_REFUSED', 'The session is stopping.');
    for (const host of [...this.#waiting.keys()]) this.#settle(host, this.#isStarting(host) ? stopping : undefined);
  }

  #indices(): Map<string, HostIndex> {
    return new Map(this.#init.bootstrap.table.specs.map(({ name }, host) => [name, host]));
  }

  #checkRest(hosts: readonly HostIndex[]): void {
    const { bootstrap } = this.#init;
    const { table } = bootstrap;
    const isStaying = (host: HostIndex): boolean => table.isUsable(host) && !hosts.includes(host);
    if (!table.hosts('up', 'suspect', 'orphaned').some(isStaying)) {
      const text = "No host of the session would be left. 'stci stop' ends it.";
      throw new StciError('STCI_SESSION_REFUSED', text);
    }
    for (const host of hosts) {
      const isFixed = (child: HostIndex): boolean => table.isUsable(child) && table.get(child).socket === undefined;
      const fixed = table.children(host).find(isFixed);
      if (fixed === undefined) continue;
      const [name, below] = [table.nameOf(host), table.nameOf(fixed)];
      throw new StciError('STCI_SESSION_REFUSED', `Host ${name} cannot be removed: the agent of host ${below} runs in `
        + 'the process of its agent (launcher.root.method).');
    }
  }

  /** It waits for its jobs, and has not been told to leave. */
  #mayStay(host: HostIndex): boolean {
    const { isDraining, isLeaving } = this.#init.bootstrap.table.get(host);
    return isDraining && !isLeaving;
  }

  #isStarting(host: HostIndex): boolean {
    return this.#init.bootstrap.table.get(host).start !== undefined;
  }

  #await(host: HostIndex, done: Done): void {
    this.#waiting.set(host, [...(this.#waiting.get(host) ?? []), done]);
  }

  #remove(host: HostIndex, force: boolean, done: Done): void {
    const { table, mender } = this.#init.bootstrap;
    table.drain(host, true); // It is not started again.
    this.#init.placeSoon();
    const removed = new StciError('STCI_SESSION_REFUSED', `Host ${table.nameOf(host)} was removed.`);
    mender?.onStarts((starts) => starts.giveUp(host, removed));
    if (table.isGone(host)) {
      if (table.get(host).state === 'left') table.drain(host, false);
      else table.apply(host, 'leave');
      return done(undefined);
    }
    this.#await(host, done);
    if (this.#mayStay(host) && (force || this.#jobsOn(host).length === 0)) this.#leave(host);
  }

  #jobsOn(host: HostIndex): JobOnHosts[] {
    return [...this.#init.jobs()].filter((job) => job.ranksOn(host) > 0);
  }

  /** Ends its agent, and that of each job that it still has; by force after the time that this may take. */
  #leave(host: HostIndex): void {
    const { node, bootstrap } = this.#init;
    const { params } = node;
    const { table } = bootstrap;
    const waitMs = params.int('tool.grace') + 2 * params.int('launcher.stop');
    table.note(host, { isLeaving: true });
    this.#timers.set(host, waitMs, () =>
      bootstrap.mender?.expel(host, table.get(host).parent, `it did not leave within ${formatDuration(waitMs)}`));
    const name = table.nameOf(host);
    const message = `Host ${name} was removed (stci remove-hosts --force)`;
    const error = { code: 'STCI_AGENT_LOST', message, host: name, data: { removed: true } };
    const loss = bootstrap.failureOf(host, 'agent-lost', error);
    for (const job of this.#jobsOn(host)) job.onHostLost(loss);
    node.messages.send(rootAddress(host), 'agent.leave', {});
  }

  #busy(host: HostIndex, timeoutMs: number): StciError {
    const jobs = this.#jobsOn(host).map(({ job }) => job);
    const name = this.#init.bootstrap.table.nameOf(host);
    const text = `Host ${name} stays: after ${formatDuration(timeoutMs)} it still has `
      + `ranks of ${jobText(jobs)}. Wait longer, or end them with --force.`;
    return new StciError('STCI_SESSION_REFUSED', text);
  }

  #stay(host: HostIndex, error: StciError): void {
    if (!this.#waiting.has(host)) return;
    this.#init.bootstrap.table.drain(host, false);
    this.#init.placeSoon();
    this.#settle(host, error);
  }

  #settle(host: HostIndex, error: StciError | undefined): void {
    const waiting = this.#waiting.get(host) ?? [];
    this.#waiting.delete(host);
    this.#timers.clear(host);
    for (const done of waiting) done(error);
  }
}

/** Calls `done` when all of them have settled. */
function collect(names: readonly string[], done: HostsChanged): (name: string, error: StciError | undefined) => void {
  const outcomes: HostOutcome[] = [];
  return (name, error) => {
    outcomes.push({ name, error: error && toErrorRecord(error) });
    if (outcomes.length === names.length) done(outcomes);
  };
}

function jobText(jobs: readonly JobId[]): string {
  return jobs.length === 1 ? `job ${jobs[0]}` : `jobs ${jobs.join(', ')}`;
}

function takenError(names: readonly string[]): StciError {
  const [first = ''] = names;
  const [more, verb] = names.length === 1 ? ['', 'is'] : [` and ${counted(names.length - 1, 'more host')}`, 'are'];
  return new StciError('STCI_HOSTLIST_INVALID', `Host ${first}${more} ${verb} in the session already.`);
}

function unknownError(name: string, known: Iterable<string>): StciError {
  const text = `Host ${name} is not one of the session's.${didYouMean(name, known)}`;
  return new StciError('STCI_HOST_UNKNOWN', text, { host: name });
}
