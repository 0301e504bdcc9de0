/**
 * Whether a job can be run on the hosts of the session, and on which. A host of which it is not known whether it lives
 * gets no ranks while others have room for them; where none has, the job waits until it is known.
 */

import { StciError, type Clock, type HostIndex, type HostSpec, type JobId } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import type { Bootstrap } from '../hosts/bootstrap.js';
import { ControllerJob } from './controller-job.js';
import { behindError, restartingError } from './job-failures.js';
import type { ControllerJobInit, JobSlots } from './job-session.js';
import { RoomWatch } from './room-watch.js';

const AWAITING_TEXT = 'the job waits for slots that other jobs of the session have';

/** The hosts of a session, as a job sees them. */
export interface Places {
  readonly hosts: readonly HostSpec[];
  /** Hosts that no job can use; before all hosts have come up, those that will not. */
  readonly leftOut: ReadonlySet<HostIndex>;
  /** Hosts of which it is not known whether they live. */
  readonly doubted: readonly HostIndex[];
}

export interface Admitted {
  readonly job: ControllerJob;
  /** The job's hosts have come up: it is launched, or waits. */
  begin(): void;
}

export interface JobAdmissionInit {
  /** Of the session. */
  readonly holds: Scope;
  readonly clock: Clock;
  bootstrap(): Bootstrap;
  /** All wanted hosts are up or left out. */
  isOpen(): boolean;
  /** All that are not over. */
  jobs(): Iterable<ControllerJob>;
  /** Slots may be free for jobs that have not been admitted. */
  onRoom(): void;
}

export class JobAdmission implements JobSlots {
  readonly #init: JobAdmissionInit;
  /** Looks at all that waits for hosts or slots. */
  readonly room: RoomWatch;
  /** In the order of their submission. */
  readonly #waiting = new Set<ControllerJob>();
  /** Jobs that wait for slots, and for no host. */
  readonly #lacking = new Set<ControllerJob>();

  constructor(init: JobAdmissionInit) {
    this.#init = init;
    init.holds.atEnd(() => this.#waiting.clear());
    this.room = new RoomWatch(init.clock, init.holds, () => {
      for (const job of init.jobs()) job.recovery.relocation.place();
      this.#launch();
      init.onRoom();
    });
  }

  get places(): Places {
    const { table } = this.#init.bootstrap();
    const hosts = table.specs;
    if (!this.#init.isOpen()) return { hosts, leftOut: new Set(table.hosts('left')), doubted: [] };
    const all = [...hosts.keys()];
    return {
      hosts,
      leftOut: new Set(all.filter((host) => !table.isUsable(host))),
      doubted: all.filter((host) => table.isDoubted(host)),
    };
  }

  /**
   * Throws StciError if it cannot be run; nothing has been sent then. Where it would fit if hosts were up that are
   * being started again, `data.busy` of the error says so.
   */
  admit(init: Omit<ControllerJobInit, 'hosts' | 'leftOut'>): Admitted {
    if (!init.spec.oversubscribe && this.#lacksSlots) throw behindError();
    const { places } = this;
    const { hosts, leftOut, doubted } = places;
    const job = this.#create({ ...init, hosts, leftOut });
    const ready = (one: ControllerJob, without: ReadonlySet<HostIndex>): Admitted =>
      ({ job: one, begin: () => one.onReady(hosts, without) });
    if (doubted.every((host) => job.ranksOn(host) === 0)) return ready(job, leftOut);
    if (roomFor(job, places) !== 'now') return { job, begin: () => this.#hold(job) };
    const without = beyondDoubt(places);
    return ready(new ControllerJob({ ...init, hosts, leftOut: without }), without);
  }

  #hold(job: ControllerJob): void {
    this.#waiting.add(job);
    job.hold();
  }

  /** Launches those that wait no longer: for hosts, and after them for slots that other jobs have. */
  #launch(): void {
    for (const job of this.#waiting) {
      const { places } = this;
      const awaitsHosts = places.doubted.length > 0 || this.#restarting(places.leftOut).length > 0;
      const room = roomFor(job, places);
      const awaitsSlots = room === 'later' && !awaitsHosts; // It has none that another could wait for.
      if (awaitsSlots && !this.#lacking.has(job)) job.front.emit({ type: 'warning', text: AWAITING_TEXT });
      if (awaitsSlots) this.#lacking.add(job);
      else this.#lacking.delete(job);
      if (room !== 'now' && (awaitsHosts || awaitsSlots)) continue;
      this.#waiting.delete(job);
      // Where nothing is awaited, it runs on what there is with fewer ranks, or not at all.
      job.onReady(places.hosts, beyondDoubt(places));
    }
  }

  /** A job waits for slots: those that come later do not overtake it. */
  get #lacksSlots(): boolean {
    return this.#lacking.size > 0 || [...this.#init.jobs()].some(({ recovery }) => recovery.relocation.lacksRoom);
  }

  /** Jobs that do not wait. */
  get placed(): ControllerJob[] {
    return [...this.#init.jobs()].filter((job) => !this.#waiting.has(job));
  }

  taken(job?: JobId): readonly number[] {
    return this.#slotsOf(this.placed.filter((other) => other.job !== job));
  }

  held(job: JobId): readonly number[] {
    const all = [...this.#init.jobs()];
    const own = all.filter((one) => one.job === job);
    let held = all.filter((one) => one.job !== job && one.recovery.relocation.isStuck);
    for (let before = -1; before !== held.length;) {
      before = held.length;
      const taken = (without: ControllerJob): readonly number[] =>
        this.#slotsOf([...own, ...held].filter((one) => one !== without));
      held = held.filter((one) => !one.recovery.relocation.fitsBeside(taken(one)));
    }
    return this.#slotsOf(held);
  }

  onFree(): void {
    this.room.later();
  }

  #slotsOf(jobs: readonly ControllerJob[]): readonly number[] {
    if (jobs.length === 0) return [];
    const hosts = this.#init.bootstrap().table.hosts();
    return hosts.map((host) => jobs.reduce((sum, { recovery }) => sum + recovery.relocation.slotsOn(host), 0));
  }

  /** The job is over. */
  drop(job: ControllerJob): void {
    this.#waiting.delete(job);
    this.#lacking.delete(job);
  }

  #create(init: ControllerJobInit): ControllerJob {
    try {
      return new ControllerJob(init);
    } catch (fault) {
      const awaited = this.#restarting(init.leftOut);
      if (!(fault instanceof StciError) || fault.data['busy'] === true || awaited.length === 0) throw fault;
      const leftOut = new Set([...init.leftOut].filter((host) => !awaited.includes(host)));
      void new ControllerJob({ ...init, leftOut }); // Throws if not even then.
      throw restartingError(awaited.map((host) => this.#init.bootstrap().table.nameOf(host)));
    }
  }

  #restarting(leftOut: ReadonlySet<HostIndex>): HostIndex[] {
    return [...leftOut].filter((host) => this.#init.bootstrap().table.isRestarting(host));
  }
}

/** The hosts that a job does without that is launched now. */
function beyondDoubt({ leftOut, doubted }: Places): ReadonlySet<HostIndex> {
  return new Set([...leftOut, ...doubted]);
}

/**
 * Whether as many ranks as on all usable hosts find room on those that are known to live. `later`: when other jobs have
 * ended.
 */
function roomFor(job: ControllerJob, places: Places): 'now' | 'later' | 'never' {
  try {
    const [all, some] = [places.leftOut, beyondDoubt(places)]
      .map((without) => job.mapOn(places.hosts, without).map.size);
    return all === some ? 'now' : 'never';
  } catch (fault) {
    if (!(fault instanceof StciError)) throw fault;
    return fault.data['busy'] === true ? 'later' : 'never';
  }
}
