/**
 * What a job is to whoever follows and steers it, the front-end of the STCI paper (II-A): its events, its output, and
 * its standard input. The root of the job's output is the controller, where the follower is called directly.
 */

import {
  addressIndex, sessionAddress, type FrontEndEvents, type HostIndex, type JobEvent,
  type JobId, type JobMap, type JobReport, type JobSpec, type Params, type Rank, type RankReport, type StciError,
} from '@stci/interface';
import { needsOwner } from '../am/requests.js';
import { hostOf, type PlacementLookup } from '../job/placement.js';
import { takesStdin } from '../job/stdin.js';
import type { AgentNode } from '../node/node.js';
import type { StreamEndpoint } from '../streams/stream-endpoint.js';
import { creditBytes } from './job-launch.js';
import { outputCheck } from './output-check.js';
import { StreamEndTracker } from './stream-end-tracker.js';

export interface JobFrontInit {
  readonly node: AgentNode;
  readonly job: JobId;
  readonly spec: JobSpec;
  /** Of the job. */
  readonly params: Params;
  /** What the job needs cannot be sent; in a later turn, because it is in the middle of sending. */
  onUnsent(error: StciError): void;
}

type StdinTo = number | 'all' | undefined;

export class JobFront {
  readonly #init: JobFrontInit;
  #events: FrontEndEvents | undefined;
  readonly #output = new StreamEndTracker((...output) => this.#events?.onOutput(...output));
  #stream: StreamEndpoint | undefined;
  /** Where the ranks are; undefined until the job is mapped. */
  #places: { lookup: PlacementLookup; map: JobMap } | undefined;
  /** Of the job as it is launched. */
  #size = 0;
  /** Ranks of lost agents that are started again; their streams go on. */
  readonly #returning = new Set<Rank>();
  /** Destination of standard input: a session agent, or all of them; undefined: none. */
  #stdinTo: StdinTo;
  #stdinQueue: Uint8Array[] = [];
  #inputEnded = false;
  /** Input is sent once all of its readers run: an agent that is not up yet would miss it. */
  #inputOpen = false;
  /** Hosts with a rank that may read standard input. */
  readonly #readers = new Set<HostIndex>();

  constructor(init: JobFrontInit) {
    this.#init = init;
  }

  /** One follower: called in the middle of what happens to the job, so what it does about it comes in a later turn. */
  follow(events: FrontEndEvents): void {
    this.#events = events;
  }

  emit(event: JobEvent): void {
    if (event.type === 'mapped') this.#onMapped(event.map, event.spawned !== undefined);
    if (event.type === 'restarting' && event.host === undefined) this.#onMoving(event.report);
    if (event.type === 'started') this.#returning.delete(event.rank);
    if (event.type === 'exited') this.#returning.delete(event.report.rank);
    if (this.#opensInput(event)) this.#openInput();
    this.#events?.onJobEvent(event);
  }

  tellEnd(report: JobReport): void {
    this.#output.over();
    this.#stream?.close();
    this.emit({ type: 'ended', report });
  }

  /** Takes the error of what was sent to the job's agents. */
  check(error: StciError | undefined): void {
    if (needsOwner(error)) this.#init.node.platform.clock.soon(() => this.#init.onUnsent(error));
  }

  /** As FrontEnd.writeStdin; an empty chunk is the end. */
  writeStdin(chunk: Uint8Array): boolean {
    if (this.#inputOpen) return this.#sendStdin(chunk);
    this.#stdinQueue.push(chunk);
    return false;
  }

  /** All readers of input on `host` have ended: more input would be discarded there, so it is not sent. */
  onUnread(host: HostIndex): void {
    if (this.#readers.delete(host) && this.#readers.size === 0) this.#events?.onStdinClosed();
  }

  /**
   * A host is lost: it neither sends nor receives from now on. `moving`: its ranks, if they had not started and are to
   * be started elsewhere. It returns no credit; without this, input for all others would stop.
   */
  onHostLost(host: HostIndex, moving: readonly Rank[]): void {
    for (const rank of moving) this.#returning.add(rank);
    this.#stream?.drop(sessionAddress(host));
    const { lookup } = this.#places as { lookup: PlacementLookup };
    this.#output.lost((rank) => lookup.host(rank) === host, (rank) => this.#returning.has(rank));
    const { stdin } = this.#init.spec;
    const isReader = (rank: Rank): boolean => takesStdin({ stdin, size: this.#size }, rank);
    const returns = [...this.#returning].some((rank) => lookup.host(rank) === host && isReader(rank));
    if (!returns) return this.onUnread(host);
    // The next attempt gets what has not been sent; until it runs, that waits.
    this.#readers.delete(host);
    if (stdin.to === 'rank') this.#inputOpen = false;
  }

  /** Another session agent takes part, in place of none or of a lost one. */
  onHostJoined(host: HostIndex): void {
    const stream = this.#stream as StreamEndpoint;
    const agent = sessionAddress(host);
    stream.admit(agent);
    this.#addReaders();
    if (this.#init.spec.stdin.to === 'all' && this.#inputEnded) stream.down(new Uint8Array(0), agent);
  }

  /** The rank is started again where the controller decides. That of a lost host is known already. */
  #onMoving({ rank, outcome }: RankReport): void {
    this.#returning.add(rank);
    const { stdin } = this.#init.spec;
    if (outcome === 'lost' || stdin.to !== 'rank' || stdin.rank !== rank) return;
    this.#readers.clear();
    this.#inputOpen = false; // Until it runs again.
  }

  #onMapped(map: JobMap, isGrowth: boolean): void {
    const isLaunched = isGrowth || this.#returning.size > 0;
    if (isLaunched && this.#places !== undefined) this.#onMoved(this.#places, map);
    else this.#attach(map);
  }

  /** Ranks are started again on other hosts than before, or there are more. */
  #onMoved(places: { lookup: PlacementLookup; map: JobMap }, map: JobMap): void {
    const lookup = hostOf(map);
    Object.assign(places, { lookup, map });
    const { stdin } = this.#init.spec;
    if (stdin.to === 'rank') this.#stdinTo = sessionAddress(lookup.host(stdin.rank));
    this.#addReaders();
  }

  /** Hosts with ranks that are started again, and read input. */
  #addReaders(): void {
    const { lookup } = this.#places as { lookup: PlacementLookup };
    const { stdin } = this.#init.spec;
    for (const rank of this.#returning) {
      if (takesStdin({ stdin, size: this.#size }, rank)) this.#readers.add(lookup.host(rank));
    }
  }

  #attach(map: JobMap): void {
    const { node, job, params, spec: { stdin } } = this.#init;
    const members = map.hosts.filter(({ runs }) => runs.length > 0).map(({ host }) => sessionAddress(host));
    this.#stream?.close(); // A new map, on other hosts.
    const lookup = hostOf(map);
    const places = { lookup, map };
    this.#places = places;
    this.#size = map.size;
    this.#stream = node.streams.attach(
      { job, members, creditBytes: creditBytes(params, map.hosts.length), check: outputCheck(places) },
      {
        onUp: (data, release) => this.#onOutput(data, release),
        onDown: () => undefined,
        onCredit: () => this.#events?.onStdinDrain(),
      },
    );
    this.#readers.clear();
    if (stdin.to === 'all') {
      this.#stdinTo = 'all';
      for (const member of members) this.#readers.add(addressIndex(member));
    } else if (stdin.to === 'rank') {
      const host = lookup.host(stdin.rank);
      this.#stdinTo = sessionAddress(host);
      this.#readers.add(host);
    }
  }

  #opensInput(event: JobEvent): boolean {
    if (this.#inputOpen) return false;
    const { stdin } = this.#init.spec;
    if (stdin.to === 'none') return event.type === 'mapped';
    if (stdin.to === 'rank' && event.type === 'started') return event.rank === stdin.rank;
    // The reader ended before it ran, or the job is ending: input has no receiver.
    const isReaderGone = stdin.to === 'rank' && event.type === 'exited' && event.report.rank === stdin.rank;
    if (event.type === 'ending' || isReaderGone) {
      this.#stdinTo = undefined;
      return true;
    }
    return event.type === 'running';
  }

  #openInput(): void {
    this.#inputOpen = true;
    let room = true;
    // A rank that has moved reads where nobody has been told of the end.
    const hasEnded = this.#inputEnded && this.#init.spec.stdin.to === 'rank';
    for (const chunk of this.#stdinQueue.splice(0)) room = this.#sendStdin(chunk);
    if (hasEnded) room = this.#sendStdin(new Uint8Array(0));
    if (room) this.#events?.onStdinDrain();
  }

  #sendStdin(chunk: Uint8Array): boolean {
    this.#inputEnded ||= chunk.length === 0;
    if (this.#stdinTo === undefined || this.#stream === undefined) return true;
    return this.#stream.down(chunk, this.#stdinTo === 'all' ? undefined : this.#stdinTo);
  }

  #onOutput(data: unknown, release: () => void): void {
    const [rank, stream, wallMs, chunk] = data as [number, number, number, Uint8Array];
    this.#output.output(rank, stream === 1 ? 'stdout' : 'stderr', chunk, wallMs, release);
  }
}
