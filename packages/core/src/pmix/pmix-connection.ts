/** One library's connection: who it is, and its requests. A rank may have several, as its children inherit its name. */

import { StciError, caught, type Channel, type ChannelEvents, type Rank, type SpawnRequest } from '@stci/interface';
import {
  GROUP_REPLY_MAJOR, PMIX_COMMAND, PMIX_STATUS, PmixServerEnd, TAG, clientMajor, decodeValue, encodeEvent, encodeFrame,
  encodeGet, encodeInfos, encodeReply, encodeStatus, encodeValue, encodeWelcome, fromByteText, hasFlag, helloProblem,
  readText, textsOf, timeoutMsOf, writeText, type PmixArrival, type PmixHello, type PmixProc, type PmixRequest,
  type PmixRequestOf,
} from '@stci/pmi';
import { Timers } from '../event/timers.js';
import { abortCode, type Cancel, type Done, type Pair, type PmiClient, type ProcessSet } from '../pmi/contracts.js';
import type { PmiServer } from '../pmi/framework.js';
import { hasKey } from '../pmi/keys.js';
import type { PmiHost } from '../pmi/pmi-host.js';
import { enterCollective, type PmixMember } from './pmix-collective.js';
import { PmixEvents } from './pmix-events.js';
import { PmixHost } from './pmix-host.js';
import { answerQueries } from './pmix-query.js';
import { spawnRequestOf } from './pmix-spawn.js';

/** Data of other ranks that one answer has besides what was asked for. */
const AHEAD_BYTES_MAX = 0x4_0000;
/** Of the version of a library, as users are told it. */
const VERSION_CHARS_MAX = 64;
/** Requests of one connection that may wait for an answer. */
const OPEN_MAX = 4096;
/** Bytes that one client may leave unread: all that one rank may have put, some times over. */
const UNREAD_BYTES_MAX = 64 * 0x10_0000;
/** Of values: those that other hosts do not see, and those that they do. */
const SCOPE = { local: 1, remote: 2 } as const;

type Send = (body: Uint8Array) => void;

export function openPmix(host: PmiHost): PmiServer {
  const server = new PmixHost(host);
  return { accept: (channel) => new PmixConnection(server, channel), prepare: () => server.prepare() };
}

class PmixConnection implements ChannelEvents, PmiClient {
  readonly #server: PmixHost;
  readonly #channel: Channel;
  readonly #end = new PmixServerEnd();
  #hello: PmixHello | undefined;
  /** Requests wait until it is known who asks, and while the client does not read its answers. */
  #isHeld = false;
  rank: Rank = -1;
  /** Requests without an answer yet; how to end those that wait for others. */
  readonly #open = new Map<number, Cancel | undefined>();
  #count = 0;
  readonly #timers: Timers<number>;
  #isFinalized = false;
  #isClosed = false;
  readonly #events: PmixEvents;
  /** Ranks whose data it has got. */
  readonly #given = new Set<Rank>();

  constructor(server: PmixHost, channel: Channel) {
    this.#server = server;
    this.#channel = channel;
    const { node, holds } = server.host.place;
    this.#events = new PmixEvents(
      (rank) => server.procOf(server.host.job, rank), (event) => encodeEvent(this.#end.form, event),
      (body) => this.#put(TAG.event, body),
    );
    this.#timers = new Timers(node.platform.clock, holds, 'timeout of an MPI library');
  }

  onData(chunk: Uint8Array): void {
    if (this.#isClosed) return;
    this.#end.append(chunk);
    this.#read();
  }

  onDrain(): void {
    if (this.#hello !== undefined) this.#hold(false);
  }

  #hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (this.#isClosed) return;
    this.#channel.readable(!isHeld);
    if (!isHeld) this.#read();
  }

  #put(tag: number, body: Uint8Array): void {
    if (this.#isClosed || this.#channel.send([encodeFrame(tag, body)])) return;
    this.#hold(true);
    if (this.#channel.queuedBytes > UNREAD_BYTES_MAX) this.#refuse('it does not read what it has asked for');
  }

  onClose(): void {
    this.#isClosed = true;
    this.#timers.close();
    for (const cancel of this.#open.values()) cancel?.();
    this.#open.clear();
    this.#server.host.end(this);
    // The end of its process says whether it has failed; its children may have had connections of their own.
  }

  #read(): void {
    try {
      while (!this.#isHeld && !this.#isClosed) {
        const arrival = this.#end.next();
        if (arrival === undefined) return;
        this.#onArrival(arrival);
      }
    } catch (fault) {
      this.#refuse(fault instanceof Error ? fault.message : String(fault));
    }
  }

  #refuse(why: string): void {
    this.#isClosed = true;
    const { node, hostName } = this.#server.host.place;
    node.platform.log.write('warn', `PMIx: a connection on host ${hostName} is closed: ${why}`);
    this.#channel.destroy(why);
  }

  #onArrival(arrival: PmixArrival): void {
    if (arrival.kind === 'hello') return this.#onHello(arrival.hello);
    const { tag } = arrival;
    if (arrival.kind === 'refused') {
      return this.#put(tag, encodeStatus(this.#end.form, PMIX_STATUS.badParameter));
    }
    if (this.#open.size >= OPEN_MAX) return this.#refuse(`more than ${OPEN_MAX} requests wait for an answer`);
    const { form } = this.#end;
    const number = this.#count++;
    this.#open.set(number, undefined);
    const forget = (): boolean => {
      this.#timers.clear(number);
      return this.#open.delete(number);
    };
    const send = (body: Uint8Array): void => {
      if (forget()) this.#put(tag, body);
    };
    const timeoutMs = 'infos' in arrival.request ? timeoutMsOf(arrival.request.infos) : 0;
    if (timeoutMs > 0) {
      this.#timers.set(number, timeoutMs, () => {
        this.#open.get(number)?.();
        send(encodeStatus(form, PMIX_STATUS.timeout));
      });
    }
    this.#handle(arrival.request, send, forget, (cancel) => {
      if (this.#open.has(number)) this.#open.set(number, cancel);
    });
  }

  #onHello(hello: PmixHello): void {
    const { host } = this.#server;
    this.#hold(true);
    const welcome = (problem?: string): void => this.#welcome(hello, problem);
    host.whenOpen({ protocol: 'pmix', version: hello.version.slice(0, VERSION_CHARS_MAX) }, (problem) => {
      // It may have been spawned since.
      if (problem === undefined && host.setOf(hello.nspace) === undefined) host.learn([], welcome);
      else welcome(problem);
    });
  }

  #welcome(hello: PmixHello, problem: string | undefined): void {
    const { host } = this.#server;
    if (this.#isClosed) return;
    const known = this.#server.rankOf(hello);
    const isOurs = known !== undefined && known[0] === host.job && host.isHere(known[1]);
    const why = problem ?? helloProblem(hello) ?? (isOurs ? undefined : `it is no process that runs on this host`);
    if (why !== undefined || known === undefined) {
      this.#channel.send([encodeWelcome({ status: PMIX_STATUS.notSupported, index: 0 })]);
      return this.#refuse(why ?? '');
    }
    this.#hello = hello;
    this.#events.know(hello.nspace);
    this.rank = known[1];
    this.#channel.send([encodeWelcome({ status: PMIX_STATUS.success, index: 0 })]);
    host.begin(this);
    this.#hold(false);
  }

  onLost(ranks: readonly Rank[]): void {
    if (this.#isFinalized) return;
    this.#events.lose(ranks);
    // Its library waits for nothing else, and this agent has much to do after a loss.
    this.#channel.flush?.();
  }

  onEvent(source: PmixProc, status: number, body: Uint8Array): void {
    if (!this.#isFinalized) this.#events.take(source, status, body);
  }

  /** `forget`: it gets no answer, or none before its process ends. `wait`: it may wait for others, until this. */
  #handle(
    request: PmixRequest, send: Send, forget: () => void, wait: (cancel: Cancel | undefined) => void,
  ): void {
    const { host } = this.#server;
    const { form } = this.#end;
    const status = (code: number): void => send(encodeStatus(form, code));
    switch (request.command) {
      case 'jobInfo': return this.#jobInfo(send);
      case 'commit': return status(this.#commit(request));
      case 'get': return wait(this.#get(request, send));
      case 'fence': case 'connect': case 'disconnect': case 'groupConstruct': case 'groupDestruct':
        return wait(enterCollective(this.#server, this.#member(), request, send));
      case 'publish': return this.#publish(request, status);
      case 'unpublish': return host.unpublish(this.rank, request.keys, (missing) =>
        status(missing?.length === 0 ? PMIX_STATUS.success : PMIX_STATUS.notFound));
      case 'lookup': return wait(this.#lookup(request, send));
      case 'registerEvents': case 'notify': return this.#event(request, status);
      case 'deregisterEvents':
        this.#events.deregister(request.codes);
        return forget();
      case 'jobControl': return status(this.#jobControl(request));
      case 'log': return status(this.#log(request));
      case 'abort':
        host.abort(this.rank, abortCode(request.status), readText(request.message ?? ''));
        return forget();
      case 'finalize':
        this.#isFinalized = true;
        host.finalize(this);
        return status(PMIX_STATUS.success);
      case 'spawn': return this.#spawn(request, send);
      case 'query':
        return answerQueries(this.#server, this.#hello?.nspace ?? '', request.queries, (code, reply) =>
          send(encodeReply(form, 'query', reply, code)));
      case 'monitor':
        this.#server.tellUnserved(PMIX_COMMAND.monitor, this.rank);
        return status(PMIX_STATUS.notSupported);
      case 'unsupported':
        this.#server.tellUnserved(request.code, this.rank);
        return status(PMIX_STATUS.notSupported);
    }
  }

  #spawn(request: PmixRequestOf<'spawn'>, send: Send): void {
    const { host } = this.#server;
    const { form } = this.#end;
    const { files } = host.place.node.platform;
    const wanted = caught<SpawnRequest | StciError>(
      () => spawnRequestOf(this.rank, request, (path, bytesMax) => files.readNamed(path, bytesMax)), (error) => error,
    );
    const done: Done<ProcessSet> = (set, problem) => {
      const info = set && this.#server.infoOf(set.nspace, form);
      if (info !== undefined) {
        this.#events.know(info.nspace);
        return send(encodeReply(form, 'spawn', info));
      }
      host.place.say(this.rank, writeText(`MPI_Comm_spawn: ${problem}\n`));
      send(encodeStatus(form, PMIX_STATUS.error));
    };
    if (wanted instanceof StciError) done(undefined, wanted.message);
    else host.spawn(wanted, done);
  }

  #member(): PmixMember {
    return {
      rank: this.rank, nspace: this.#hello?.nspace ?? '', form: this.#end.form,
      isNew: this.#hello !== undefined && clientMajor(this.#hello) >= GROUP_REPLY_MAJOR,
      know: (nspace) => this.#events.know(nspace),
    };
  }

  #jobInfo(send: Send): void {
    const { form } = this.#end;
    send(this.#server.jobInfoOf(this.#hello?.nspace ?? '', form) ?? encodeStatus(form, PMIX_STATUS.notFound));
  }

  #event(request: PmixRequestOf<'registerEvents' | 'notify'>, status: (code: number) => void): void {
    if (request.command === 'notify') {
      const problem = this.#server.host.notify(this.rank, request.status, encodeInfos(request.infos));
      return status(problem === undefined ? PMIX_STATUS.success : PMIX_STATUS.badParameter);
    }
    status(PMIX_STATUS.success);
    this.#events.register(request.codes);
  }

  /** Others of its host see what is local, and of global values; others elsewhere what is remote. */
  #commit({ scopes }: PmixRequestOf<'commit'>): number {
    const of = (scope: number): Pair[] => scopes.filter((each) => each.scope === scope).flatMap(({ kvals }) =>
      kvals.map(({ key, bytes }): Pair => [key, bytes]));
    const problem = this.#server.host.keys.put(this.rank, { near: of(SCOPE.local), far: of(SCOPE.remote) });
    return problem === undefined ? PMIX_STATUS.success : PMIX_STATUS.error;
  }

  #get({ nspace, rank: process, key, infos }: PmixRequestOf<'get'>, send: Send): Cancel | undefined {
    const { host } = this.#server;
    const { form } = this.#end;
    const notFound = (): undefined => void send(encodeStatus(form, PMIX_STATUS.notFound));
    const known = this.#server.rankOf({ nspace, rank: process });
    // What the launcher knows was told at the start.
    if (known === undefined || key?.startsWith('pmix.') === true) return notFound();
    const [job, rank] = known;
    const answer = (pairs: readonly Pair[]): void => {
      const ranks = [this.#server.dataOf({ nspace, rank: process }, pairs, form)];
      if (job === host.job) {
        this.#given.add(rank);
        ranks.push(...this.#ahead());
      }
      send(encodeGet(form, ranks));
    };
    if (hasFlag(infos, 'pmix.immediate')) {
      const pairs = host.keys.known(rank, job);
      return void (pairs !== undefined && hasKey(pairs, key) ? answer(pairs) : notFound());
    }
    return host.await(rank, job, key ?? undefined, (pairs) => (pairs === undefined ? notFound() : answer(pairs)));
  }

  /** What other ranks have put, as far as it is known here, and this library has not got it: it will ask. */
  #ahead(): Uint8Array[] {
    const { host } = this.#server;
    const ahead: Uint8Array[] = [];
    let bytes = 0;
    for (const rank of host.keys.knownRanks()) {
      if (this.#given.has(rank)) continue;
      const [proc, pairs] = [this.#server.procOf(host.job, rank), host.keys.known(rank)];
      if (proc === undefined || pairs === undefined) continue;
      const data = this.#server.dataOf(proc, pairs, this.#end.form);
      bytes += data.length;
      if (bytes > AHEAD_BYTES_MAX) break;
      this.#given.add(rank);
      ahead.push(data);
    }
    return ahead;
  }

  #publish({ infos }: PmixRequestOf<'publish'>, status: (code: number) => void): void {
    const data = infos.filter(({ key }) => !key.startsWith('pmix.'));
    const persist = infos.find(({ key }) => key === 'pmix.persist')?.value;
    const persistence = persist?.type === 'persistence' ? persist.data : 3;
    const pairs = data.map(({ key, value }): Pair => [key, encodeValue(value)]);
    this.#server.host.publish(this.rank, persistence, pairs, (taken, problem) => {
      if (problem !== undefined) status(PMIX_STATUS.error);
      else status(taken?.length === 0 ? PMIX_STATUS.success : PMIX_STATUS.duplicateKey);
    });
  }

  #lookup({ keys, infos }: PmixRequestOf<'lookup'>, send: Send): Cancel {
    const { form } = this.#end;
    return this.#server.host.requests.lookup(keys, hasFlag(infos, 'pmix.wait'), (found) => {
      const pdata = (found ?? []).flatMap(([nspace, rank, key, bytes]) => {
        const value = caught(() => decodeValue(bytes), () => undefined);
        return value === undefined ? [] : [{ proc: { nspace, rank }, key, value }];
      });
      if (pdata.length === 0) return send(encodeStatus(form, PMIX_STATUS.notFound));
      send(encodeReply(form, 'lookup', { found: pdata }));
    });
  }

  /** What a library has to say goes where its rank's errors go. */
  #log({ data }: PmixRequestOf<'log'>): number {
    const { place } = this.#server.host;
    for (const text of textsOf(data, /^pmix\.log\.(stderr|stdout)$/)) place.say(this.rank, fromByteText(text));
    return PMIX_STATUS.success;
  }

  /** Files to remove are heeded; ranks are not paused, signalled or ended. */
  #jobControl({ infos }: PmixRequestOf<'jobControl'>): number {
    const { host } = this.#server;
    if (infos.some(({ key }) => /^pmix\.jctrl\.(?!id$)/.test(key))) {
      this.#server.tellUnserved(PMIX_COMMAND.jobControl, this.rank);
      return PMIX_STATUS.notSupported;
    }
    for (const text of textsOf(infos, /^pmix\.reg\.cleanup(dir)?$/)) host.leave(readText(text).split(','));
    return PMIX_STATUS.success;
  }
}
