/** What Open MPI does, of PMIx: requests in frames over a connection to the agent's port of loopback. */

import {
  BUFFER_FORM, PMIX_RANK, PMIX_STATUS, PmixClientEnd, TAG, decodeEvent, decodeJobInfo, decodeReply, decodeValue,
  encodeFrame, encodeHello, encodeRequest, encodeValue, toByteText, type PmixFrame, type PmixInfo, type PmixReplyName,
  type PmixReplyOf, type PmixRequest, type PmixRequestOf,
} from '@stci/pmi';
import type { Channel } from '@stci/interface';
import { textBytes, type Tool } from '@stci/platform-sim';
import type { LibraryEvents, MpiCollective, MpiLibrary } from './mpi-program.js';

const FORM = BUFFER_FORM.plain;
const SCOPE_GLOBAL = [1, 2];
const KEY = 'card';
const RANGE_SESSION = 4;
/** How long a lookup waits, s. */
const LOOKUP_S = 10;
const TRUE = { type: 'bool', data: true } as const;

export class PmixLibrary implements MpiLibrary {
  readonly #nspace: string;
  readonly #rank: number;
  readonly #channel: Channel;
  readonly #events: LibraryEvents;
  readonly #end = new PmixClientEnd();
  readonly #open = new Map<number, (body: Uint8Array) => void>();
  /** Data of ranks that it has got. */
  readonly #cards = new Map<number, string>();
  #onWelcome: (() => void) | undefined;
  #tag: number = TAG.requestMin;
  #isOver = false;

  constructor(tool: Tool, events: LibraryEvents) {
    this.#events = events;
    this.#nspace = tool.env['PMIX_NAMESPACE'] ?? '';
    this.#rank = Number(tool.env['PMIX_RANK']);
    const port = /:(\d+)$/.exec(tool.env['PMIX_SERVER_URI41'] ?? '')?.[1];
    this.#channel = tool.connectLoopback(Number(port));
    this.#channel.bind({
      onData: (chunk) => this.#onData(chunk),
      onDrain: () => undefined,
      onClose: (reason) => this.#isOver || events.onFault(`closed: ${reason}`),
    });
  }

  #onData(chunk: Uint8Array): void {
    this.#end.append(chunk);
    for (let frame = this.#end.next(); frame !== undefined; frame = this.#end.next()) this.#onFrame(frame);
    const { welcome } = this.#end;
    if (welcome === undefined || this.#onWelcome === undefined) return;
    const onWelcome = this.#onWelcome;
    this.#onWelcome = undefined;
    if (welcome.status === PMIX_STATUS.success) onWelcome();
    else this.#events.onFault(`refused with ${welcome.status}`);
  }

  #onFrame({ tag, body }: PmixFrame): void {
    if (tag === TAG.event) {
      const { status, source } = decodeEvent(FORM, body);
      if (status === PMIX_STATUS.procAborted && source.nspace === this.#nspace) this.#events.onLost(source.rank);
      else this.#events.onFault(`event ${status} of ${source.nspace}`);
      return;
    }
    const open = this.#open.get(tag);
    this.#open.delete(tag);
    if (open === undefined) this.#events.onFault(`an answer to nothing, ${tag}`);
    else open(body);
  }

  #send(request: PmixRequest, done: (body: Uint8Array) => void): void {
    const tag = this.#tag++;
    this.#open.set(tag, done);
    this.#channel.send([encodeFrame(tag, encodeRequest(FORM, request))]);
  }

  #ask<K extends PmixReplyName>(
    request: PmixRequestOf<K>, done: (reply: PmixReplyOf<K> | undefined) => void,
  ): void {
    const { command } = request as { readonly command: K };
    this.#send(request, (body) => done(decodeReply(FORM, command, body).reply));
  }

  init(done: (size: number) => void): void {
    this.#onWelcome = () => this.#send({ command: 'jobInfo' }, (body) => {
      const { nspace, kvals } = decodeJobInfo(FORM, body);
      const size = kvals.find(({ key }) => key === 'pmix.job.size');
      if (nspace !== this.#nspace || size === undefined) return this.#events.onFault(`job info of ${nspace}`);
      const codes = [PMIX_STATUS.procAborted];
      return this.#ask({ command: 'registerEvents', codes, infos: [] }, () =>
        done(Number(decodeValue(size.bytes).data)));
    });
    this.#channel.send([encodeHello({
      security: 'native', credential: new Uint8Array(8), processKind: 0, nspace: this.#nspace, rank: this.#rank,
      version: '5.0.7', bfrops: 'v41', form: FORM, gds: 'hash', rest: new Uint8Array(0),
    })]);
  }

  put(value: string, done: () => void): void {
    const kvals = [{ key: KEY, bytes: encodeValue({ type: 'string', data: value }) }];
    this.#ask({ command: 'commit', scopes: SCOPE_GLOBAL.map((scope) => ({ scope, kvals })) }, (reply) => {
      if (reply !== undefined) done();
      else this.#events.onFault('commit');
    });
  }

  publish(key: string, value: string, done: (isWell: boolean) => void): void {
    const infos: PmixInfo[] = [
      { key, value: { type: 'string', data: value } },
      { key: 'pmix.range', value: { type: 'range', data: RANGE_SESSION } },
    ];
    this.#ask({ command: 'publish', uid: 0, infos }, (reply) => done(reply !== undefined));
  }

  lookup(key: string, done: (value: string | undefined) => void): void {
    const infos: PmixInfo[] = [
      { key: 'pmix.wait', value: { type: 'int', data: 0 } },
      { key: 'pmix.timeout', value: { type: 'int', data: LOOKUP_S } },
    ];
    this.#ask({ command: 'lookup', uid: 0, keys: [key], infos }, (reply) => {
      const data = reply?.found[0]?.value.data;
      done(typeof data === 'string' ? data : undefined);
    });
  }

  fence(members: readonly number[] | undefined, collects: boolean, done: (isWell: boolean) => void): void {
    const ranks = members ?? [PMIX_RANK.wildcard];
    const procs = ranks.map((rank) => ({ nspace: this.#nspace, rank }));
    const infos: PmixInfo[] = collects ? [{ key: 'pmix.collect', value: TRUE }] : [];
    this.#ask({ command: 'fence', procs, infos }, (reply) => done(reply !== undefined));
  }

  meet(
    of: MpiCollective, id: string, members: readonly number[], done: (isWell: boolean, context?: bigint) => void,
  ): void {
    const procs = members.map((rank) => ({ nspace: this.#nspace, rank }));
    switch (of) {
      case 'groupConstruct':
        return this.#ask({ command: of, id, procs, infos: [] }, (reply) => done(reply !== undefined, reply?.context));
      case 'groupDestruct':
        return this.#ask({ command: of, id, procs, infos: [] }, (reply) => done(reply !== undefined));
      case 'connect': case 'disconnect':
        return this.#ask({ command: of, procs, infos: [] }, (reply) => done(reply !== undefined));
    }
  }

  get(rank: number, done: (value: string | undefined) => void): void {
    const known = this.#cards.get(rank);
    if (known !== undefined) return done(known);
    return this.#ask({ command: 'get', nspace: this.#nspace, rank, infos: [], key: KEY }, (reply) => {
      for (const { proc, kvals } of reply?.ranks ?? []) {
        const [card] = kvals.filter(({ key }) => key === KEY);
        if (card === undefined) continue;
        const { data } = decodeValue(card.bytes);
        if (this.#cards.has(proc.rank)) this.#events.onFault(`the data of ${proc.rank} came twice`);
        this.#cards.set(proc.rank, typeof data === 'string' ? data : toByteText(card.bytes));
      }
      done(this.#cards.get(rank));
    });
  }

  finalize(done: () => void): void {
    this.#ask({ command: 'finalize' }, () => {
      this.#isOver = true;
      this.#channel.close();
      done();
    });
  }

  abort(code: number): void {
    this.#isOver = true;
    const message = 'a simulated program aborts';
    this.#send({ command: 'abort', status: code, message, procs: [] }, () =>
      this.#events.onFault('abort was answered'));
  }

  /** A header that claims 4 GiB, behind half of another frame. */
  garbage(): void {
    this.#channel.send([textBytes(`\0\0\0\0\0\0\0\x70\xff\xff\xff\xff\0\0\0\0garbage`)]);
  }
}
