/**
 * Where libraries in the ranks of one host find their launcher: a port, and a socket that each rank inherits. It is all
 * that a program without MPI costs, with some looks at what it has loaded: what serves a connection is loaded where
 * that is an MPI library, or with the first connection that says something.
 */

import type { Channel, ErrorRecord, Rank, StciError } from '@stci/interface';
import { Later } from '../am/answer.js';
import { Gate } from '../bootcom/gate.js';
import { Timers } from '../event/timers.js';
import type { JobPlace, JobService } from '../service/contracts.js';
import { Loadable } from '../service/loadable.js';
import { pmiFramework, type PmiModule, type PmiServer } from './framework.js';
import { nspaceName } from './nspace.js';
import type { PmiHost } from './pmi-host.js';
import { isTolerant } from './policy.js';

export const hostCode = new Loadable<typeof PmiHost>(
  'the service for MPI libraries', () => import('./pmi-host.js').then((loaded) => loaded.PmiHost));
/** Between looks at what a rank has loaded: the system's linker takes some milliseconds for an MPI library. */
const LOOKS_MS = [3, 10, 30];

export class PmiPort implements JobService {
  readonly #place: JobPlace;
  readonly #modules: readonly PmiModule[];
  readonly #gate: Gate | undefined;
  /** Ranks that run here, or have; of those that have ended, whether well. */
  readonly #ranks = new Map<Rank, boolean | undefined>();
  readonly #channels = new Set<Channel>();
  readonly #timers: Timers<'look'>;
  readonly #servers = new Map<PmiModule, PmiServer>();
  #host: PmiHost | undefined;

  constructor(place: JobPlace) {
    const { node, scope, params, holds } = place;
    this.#place = place;
    this.#timers = new Timers(node.platform.clock, holds);
    this.#modules = scope.selected(pmiFramework, params).map(({ create }) => create());
    const byPort = this.#modules.find(({ by }) => by === 'port');
    this.#gate = byPort && new Gate({
      holds, of: 'MPI libraries', platform: node.platform, pendingMax: node.params.int('bootcom.pending.max'),
      accept: (channel) => {
        this.#bind(byPort, channel, undefined);
        return undefined;
      },
    });
    holds.holdAll(() => [...this.#channels].map(() => 'connection of an MPI library'), () => {
      for (const channel of this.#channels) channel.destroy('the job is over');
    });
    const { messages } = node;
    // Where no library has spoken yet, none waits for this.
    messages.on('pmi.done', (result) => this.#host?.onDone(result));
    messages.on('pmi.lost', ({ ranks, silent }) => this.#host?.onLost(ranks, silent));
    messages.on('pmi.event', (event) => this.#host?.onEvent(event));
    messages.on('pmi.forget', (asked) => this.#host?.requests.onForget(asked));
    messages.on('pmi.get', (asked) => new Later<'pmi.get'>((answer) => this.#use((host, error) => {
      if (host === undefined) answer.fail(error);
      else host.requests.onGet(asked, (reply) => answer.done(reply));
    })));
  }

  open(done: (error?: ErrorRecord) => void): void {
    if (this.#gate === undefined) done();
    else this.#gate.openLoopback(done);
  }

  add(rank: Rank): Readonly<Record<string, string>> {
    const { node } = this.#place;
    const { first, count } = this.#setOf(rank);
    this.#ranks.set(rank, undefined);
    this.#host?.add(rank);
    const port = this.#gate?.port ?? 0;
    const offer = {
      nspace: this.#nspaceOf(rank), rank: rank - first, size: count, hostName: node.platform.env.hostname, port,
    };
    return Object.assign({}, ...this.#modules.map((module) => module.variables(offer))) as Record<string, string>;
  }

  /** Ranks that were launched, or spawned, with this one. */
  #setOf(rank: Rank): { readonly first: Rank; readonly count: number } {
    return this.#place.spawnOf(rank) ?? { first: 0, count: this.#place.size };
  }

  #nspaceOf(rank: Rank): string {
    const { node, job, token } = this.#place;
    return nspaceName(node.sessionName, job, token, this.#setOf(rank).first);
  }

  defaults(): Readonly<Record<string, string>> {
    if (this.#modules.length === 0) return {};
    const { params, node } = this.#place;
    return {
      // Its plugins for displays ask a name server, which may take seconds to say nothing.
      HWLOC_COMPONENTS: '-gl,-opencl',
      ...(isTolerant(params) && { OMPI_MCA_mpi_ft_enable: '1' }),
      ...(this.#ranks.size > node.platform.env.cpuCount && { OMPI_MCA_mpi_yield_when_idle: '1' }),
    };
  }

  /** Looks whether a rank has loaded an MPI library: what that asks first is then made ready, while it starts. */
  onStarted(): void {
    if (this.#host === undefined) this.#look(0);
  }

  #look(number: number): void {
    const rank = [...this.#ranks].find(([, isWell]) => isWell === undefined)?.[0];
    const pid = rank === undefined ? undefined : this.#place.processOf(rank)?.pid;
    if (pid === undefined || this.#host !== undefined) return;
    const loaded = this.#place.node.platform.env.systemText(`/proc/${pid}/maps`) ?? '';
    const module = this.#modules.find(({ library }) => library.test(loaded));
    const afterMs = LOOKS_MS[number];
    if (module !== undefined) this.#serve(module, (server) => server?.prepare());
    else if (afterMs !== undefined) this.#timers.set('look', afterMs, () => this.#look(number + 1));
  }

  socketOf(rank: Rank): ((channel: Channel) => void) | undefined {
    const module = this.#modules.find(({ by }) => by === 'socket');
    return module && ((channel) => this.#bind(module, channel, rank));
  }

  remove(rank: Rank, isWell: boolean): void {
    if (this.#ranks.get(rank) === undefined) this.#ranks.set(rank, isWell);
    this.#host?.remove(rank, isWell);
  }

  complaintOf(rank: Rank): ErrorRecord | undefined {
    return this.#host?.complaintOf(rank);
  }

  /** Its events go to the server of its protocol, which gets what has come before. */
  #bind(module: PmiModule, channel: Channel, rank: Rank | undefined): void {
    this.#channels.add(channel);
    let early: Uint8Array[] | undefined;
    let isClosed = false;
    let events: ReturnType<PmiServer['accept']> | undefined;
    channel.bind({
      onData: (chunk) => {
        if (events !== undefined) return events.onData(chunk);
        early?.push(chunk);
        if (early !== undefined) return;
        early = [chunk];
        channel.readable(false);
        this.#serve(module, (server, error) => {
          if (server === undefined) return channel.destroy(error?.message ?? 'it cannot be served');
          events = server.accept(channel, rank);
          for (const each of early?.splice(0) ?? []) events.onData(each);
          if (isClosed) events.onClose('it was closed');
          else channel.readable(true);
        });
      },
      onDrain: () => events?.onDrain(),
      onClose: (reason) => {
        isClosed = true;
        this.#channels.delete(channel);
        events?.onClose(reason);
      },
    });
  }

  #serve(module: PmiModule, done: (server: PmiServer | undefined, error?: StciError) => void): void {
    this.#use((host, error) => {
      if (host === undefined) return done(undefined, error);
      module.code.use((open, why) => {
        const server = this.#servers.get(module) ?? open?.(host);
        if (server !== undefined) this.#servers.set(module, server);
        done(server, why);
      });
    });
  }

  #use(done: (host: PmiHost | undefined, error?: StciError) => void): void {
    hostCode.use((Host, error) => {
      if (this.#place.holds.isClosed) return;
      if (this.#host === undefined && Host !== undefined) {
        this.#host = new Host(this.#place, isTolerant(this.#place.params));
        for (const rank of this.#ranks.keys()) this.#host.add(rank);
        for (const [rank, isWell] of this.#ranks) if (isWell !== undefined) this.#host.remove(rank, isWell);
      }
      done(this.#host, error);
    });
  }
}
