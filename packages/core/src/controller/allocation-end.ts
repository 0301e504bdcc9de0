/**
 * The end of an allocation, at the controller: a batch system takes the hosts of the session (cancelled, time limit,
 * preempted), and gives it some time. Its own words come by what started the agents. SIGTERM to the agents comes
 * before, after or without them, and to some hosts alone where only those are taken: these are lost, and the error
 * manager decides.
 */

import { StciError, assert, type Clock, type ErrorRecord, type HostIndex } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { Bootstrap } from '../hosts/bootstrap.js';
import { foldSorted } from '../job/hostset.js';
import type { ControllerJob } from '../jobs/controller-job.js';
import { ALLOCATION_GRACE_MS, END_REPORT_MS } from '../jobs/job-termination.js';
import type { MembershipTable } from '../membership/table.js';

/** How long other hosts, or the batch system's words, are awaited after the first SIGTERM; then the loss of hosts. */
const SETTLE_MS = 500;

/** Slurm's KillWait, if the site has not changed it. */
const KILL_WAIT_MS = 30_000;

assert(SETTLE_MS + ALLOCATION_GRACE_MS + 2 * END_REPORT_MS < KILL_WAIT_MS, 'jobs have ended before Slurm kills all');

export interface AllocationEndInit {
  /** Of the session. */
  readonly holds: Scope;
  readonly clock: Clock;
  bootstrap(): Bootstrap | undefined;
  jobs(): readonly ControllerJob[];
  onEnding(error: StciError): void;
}

export class AllocationEnd {
  readonly #init: AllocationEndInit;
  #error: StciError | undefined;
  readonly #timers: Timers<'settle'>;

  constructor(init: AllocationEndInit) {
    this.#init = init;
    this.#timers = new Timers(init.clock, init.holds);
  }

  /** It is not decided yet what the end of some agents means, or their loss is about to be told. */
  get isPending(): boolean {
    return this.#timers.has('settle');
  }

  /** Throws STCI_ALLOCATION_ENDED once the hosts are taken. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  /** In the batch system's words, or without: no host is started again, and no job; those that run end. */
  begin({ message, data }: ErrorRecord, hasWords = true): void {
    this.#timers.clear('settle');
    const error = new StciError('STCI_ALLOCATION_ENDED', message, data === undefined ? {} : { data });
    this.#error = error;
    this.#init.bootstrap()?.recovery.close();
    for (const job of this.#init.jobs()) job.onAllocationEnding(error, hasWords);
    this.#init.onEnding(error);
  }

  /** The agent there was told to end. */
  onHost(host: HostIndex): void {
    const table = this.#init.bootstrap()?.table;
    if (this.#error !== undefined || table === undefined || host >= table.size) return;
    table.note(host, { isTerminated: true });
    this.#await();
  }

  /** A host is lost. Where a batch system started all agents and none is left, its words may be under way. */
  onLost(): void {
    const bootstrap = this.#init.bootstrap();
    const isOfBatch = bootstrap !== undefined && bootstrap.together.hosts.length > 0;
    if (this.#error === undefined && isOfBatch && bootstrap.table.hosts('up').length === 0) this.#await();
  }

  #await(): void {
    this.#timers.ensure('settle', SETTLE_MS, () => this.#settle());
  }

  #settle(): void {
    const bootstrap = this.#init.bootstrap() as Bootstrap;
    const { table } = bootstrap;
    const hosts = table.hosts().filter((host) => table.get(host).isTerminated);
    for (const host of hosts) table.note(host, { isTerminated: false });
    if (hosts.length === 0) for (const job of this.#init.jobs()) job.checkOver();
    else if (areAll(hosts, table)) {
      const names = foldSorted(hosts.map((host) => table.nameOf(host)));
      const message = `The agents were told to end (SIGTERM), as a batch system does when it takes its hosts: ${names}`;
      this.begin({ code: 'STCI_ALLOCATION_ENDED', message }, false);
    } else {
      const reason = 'its agent was told to end (SIGTERM), as a batch system does when it takes a host';
      for (const host of hosts) bootstrap.mender?.expel(host, table.get(host).parent, reason);
      this.#await();
    }
  }
}

/** All that are up, and more than those that may come back: one host alone does not speak for suspects. */
function areAll(told: readonly HostIndex[], table: MembershipTable): boolean {
  const present = table.hosts('up', 'suspect', 'orphaned');
  const isTold = (host: HostIndex): boolean => told.includes(host);
  return table.hosts('up').every(isTold) && 2 * present.filter(isTold).length > present.length;
}
