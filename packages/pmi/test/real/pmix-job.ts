/** Jobs of one host on PMIx, as small as can be: what the service will do over the tree. */

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import {
  PMIX_STATUS, PmixServerEnd, encodeFrame, encodeJobInfo, encodeReply, encodeStatus, encodeWelcome, helloProblem,
  jobInfoKvals, type PmixHello, type PmixInfo, type PmixKval, type PmixPdata, type PmixProc, type PmixRequest,
  type PmixRequestOf, type JobInfo,
} from '@stci/pmi';
import { rootVariables } from './installed.js';
import { hex, startRank, type Dialogue, type RankResult } from './ranks.js';

interface Connection {
  readonly end: PmixServerEnd;
  readonly socket: Socket;
  readonly dialogue: Dialogue;
  hello: PmixHello | undefined;
}

interface Namespace {
  readonly info: JobInfo;
  readonly size: number;
  readonly data: Map<number, PmixKval[]>;
}

interface Collective {
  /** Members that have not come. */
  readonly missing: Set<string>;
  readonly answers: (() => void)[];
}

interface Waiting {
  readonly keys: readonly string[];
  readonly answer: (found: readonly PmixPdata[]) => void;
}

const RANK_WILDCARD = 0xffff_fffe;
const nameOf = (proc: PmixProc): string => `${proc.nspace}.${proc.rank}`;
const hasFlag = (infos: readonly PmixInfo[], key: string): boolean => infos.some((info) => info.key === key);

export class PmixJobs {
  readonly requests: PmixRequest[] = [];
  readonly problems: string[] = [];
  readonly #nspaces = new Map<string, Namespace>();
  readonly #connections: Connection[] = [];
  readonly #collectives = new Map<string, Collective>();
  readonly #published: PmixPdata[] = [];
  readonly #lookups: Waiting[] = [];
  readonly #gets: (() => boolean)[] = [];
  readonly #ended: Promise<RankResult>[] = [];
  readonly #ends: (() => void)[] = [];
  /** Files that Open MPI leaves to its launcher to remove. */
  readonly #leftovers: string[] = [];
  readonly #directory: string;
  readonly #program: string;
  readonly #seed: string;
  #server: Server | undefined;
  #count = 0;

  /** `seed` makes the names of its namespaces: no two jobs of a machine may share one. */
  constructor(program: string, directory: string, seed: string) {
    this.#program = program;
    this.#directory = directory;
    this.#seed = seed;
  }

  get dialogues(): readonly Dialogue[] {
    return this.#connections.map(({ dialogue }) => dialogue);
  }

  async run(args: readonly string[], size: number, universeSize: number, isDescribed = false): Promise<RankResult[]> {
    const server = createServer((socket) => this.#connect(socket));
    this.#server = server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const described = { PMIX_BFROP_BUFFER_TYPE: 'PMIX_BFROP_BUFFER_FULLY_DESC' };
    this.#start(args, size, universeSize, isDescribed ? described : {});
    const results: RankResult[] = [];
    for (let at = 0; at < this.#ended.length; at++) results.push(await (this.#ended[at] as Promise<RankResult>));
    server.close();
    for (const { socket } of this.#connections) socket.destroy();
    return results;
  }

  end(): void {
    for (const end of this.#ends) end();
    for (const file of this.#leftovers) if (/^\/dev\/shm\/[^/]+$/.test(file)) rmSync(file, { force: true });
  }

  #start(
    args: readonly string[], size: number, universeSize: number, more: Readonly<Record<string, string>>,
    parent?: PmixProc,
  ): string {
    const nspace = `${this.#seed}${this.#count}`;
    this.#count += 1;
    const info: JobInfo = {
      nspace, universeSize, hosts: [{ name: hostname(), ranks: Array.from({ length: size }, (_, rank) => rank) }],
      apps: [{ firstRank: 0, size }], directory: this.#directory, nspaceDirectory: `${this.#directory}/${nspace}`,
      server: { nspace: 'server', rank: 0 }, ...(parent !== undefined && { parent }),
    };
    this.#nspaces.set(nspace, { info, size, data: new Map() });
    const { port } = this.#server?.address() as AddressInfo;
    for (let rank = 0; rank < size; rank++) {
      const { child, ended } = startRank(this.#program, args, {
        PMIX_NAMESPACE: nspace, PMIX_RANK: String(rank), PMIX_SERVER_URI41: `server.0;tcp4://127.0.0.1:${port}`,
        PMIX_GDS_MODULE: 'hash', PMIX_SECURITY_MODE: 'native', PMIX_VERSION: '5.0.7', JSM_JSRUN_PORT: '1',
        PMIX_BFROP_BUFFER_TYPE: 'PMIX_BFROP_BUFFER_NON_DESC', PMIX_HOSTNAME: hostname(),
        OMPI_MCA_mpi_yield_when_idle: '1', OMPI_MCA_pml: 'ob1', OMPI_MCA_btl: '^openib,ofi,uct',
        OMPI_MCA_btl_tcp_if_include: 'lo', PMIX_MCA_pcompress_base_silence_warning: '1', ...rootVariables(), ...more,
      }, false);
      this.#ended.push(ended);
      this.#ends.push(() => child.kill('SIGKILL'));
    }
    return nspace;
  }

  #connect(socket: Socket): void {
    const connection: Connection = { end: new PmixServerEnd(), socket, dialogue: [], hello: undefined };
    this.#connections.push(connection);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      connection.dialogue.push(['>', hex(chunk)]);
      connection.end.append(chunk);
      for (let arrival = connection.end.next(); arrival !== undefined; arrival = connection.end.next()) {
        if (arrival.kind === 'hello') this.#welcome(connection, arrival.hello);
        else if (arrival.kind === 'request') this.#handle(connection, arrival.tag, arrival.request);
        else this.problems.push(arrival.fault.message);
      }
    });
  }

  #welcome(connection: Connection, hello: PmixHello): void {
    const problem = helloProblem(hello);
    if (problem !== undefined) this.problems.push(problem);
    connection.hello = hello;
    write(connection, encodeWelcome({ status: problem === undefined ? 0 : PMIX_STATUS.notSupported, index: 0 }));
  }

  #handle(connection: Connection, tag: number, request: PmixRequest): void {
    this.requests.push(request);
    const { form } = connection.end;
    const self: PmixProc = { nspace: connection.hello?.nspace ?? '', rank: connection.hello?.rank ?? 0 };
    const send = (body: Uint8Array): void => write(connection, encodeFrame(tag, body));
    const done = (): void => send(encodeStatus(form, PMIX_STATUS.success));
    switch (request.command) {
      case 'jobInfo': return send(encodeJobInfo(form, this.#jobInfo(form, self.nspace)));
      case 'commit':
        this.#commit(self, request.scopes.flatMap(({ kvals }) => kvals));
        return done();
      case 'get': return this.#get(connection, request, send);
      case 'fence':
      case 'disconnect': return this.#collect(request.command, self, request.procs, done);
      case 'connect': return this.#collect('connect', self, request.procs, () => {
        const foreign = new Set(request.procs.map(({ nspace }) => nspace).filter((nspace) => nspace !== self.nspace));
        send(encodeReply(form, 'connect', { nspaces: [...foreign].map((nspace) => this.#jobInfo(form, nspace)) }));
      });
      case 'publish':
        for (const { key, value } of request.infos) this.#published.push({ proc: self, key, value });
        for (const waiting of this.#lookups.splice(0)) this.#lookup(waiting);
        return done();
      case 'lookup': return this.#lookup({
        keys: request.keys, answer: (found) => send(encodeReply(form, 'lookup', { found })),
      });
      case 'spawn': {
        const app = request.apps[0];
        const nspace = this.#start(app?.args.slice(1) ?? [], app?.processesMax ?? 1, 8,
          Object.fromEntries((app?.env ?? []).filter((entry) => entry.startsWith('OMPI_')).map((entry) =>
            [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])), self);
        return send(encodeReply(form, 'spawn', this.#jobInfo(form, nspace)));
      }
      case 'jobControl':
        this.#leftovers.push(...request.infos.flatMap(({ key, value }) =>
          (key === 'pmix.reg.cleanup' && value.type === 'string' ? value.data?.split(',') ?? [] : [])));
        return done();
      case 'deregisterEvents': return;
      case 'abort': return this.end();
      case 'query': case 'monitor': case 'groupConstruct': case 'groupDestruct': case 'unsupported':
        return send(encodeStatus(form, PMIX_STATUS.notSupported));
      default: return done();
    }
  }

  #jobInfo(form: 1 | 2, nspace: string): { nspace: string; kvals: PmixKval[] } {
    const known = this.#nspaces.get(nspace);
    return { nspace, kvals: known === undefined ? [] : jobInfoKvals(form, known.info) };
  }

  #commit({ nspace, rank }: PmixProc, kvals: readonly PmixKval[]): void {
    const data = this.#nspaces.get(nspace)?.data;
    data?.set(rank, [...data.get(rank) ?? [], ...kvals]);
    for (const waiting of this.#gets.splice(0)) if (!waiting()) this.#gets.push(waiting);
  }

  #get(connection: Connection, request: PmixRequestOf<'get'>, send: (body: Uint8Array) => void): void {
    const { form } = connection.end;
    const { nspace, rank, key, infos } = request;
    const answer = (): boolean => {
      const kvals = this.#nspaces.get(nspace)?.data.get(rank);
      if (kvals === undefined || (key !== undefined && !kvals.some((kval) => kval.key === key))) return false;
      send(encodeReply(form, 'get', { ranks: [{ proc: { nspace, rank }, kvals }] }));
      return true;
    };
    if (answer()) return;
    if (hasFlag(infos, 'pmix.immediate') || key?.startsWith('pmix.') === true || rank >= RANK_WILDCARD) {
      return send(encodeStatus(form, PMIX_STATUS.notFound));
    }
    this.#gets.push(answer);
  }

  #lookup(waiting: Waiting): void {
    const found = this.#published.filter(({ key }) => waiting.keys.includes(key));
    if (found.length > 0) waiting.answer(found);
    else this.#lookups.push(waiting);
  }

  #collect(kind: string, self: PmixProc, procs: readonly PmixProc[], answer: () => void): void {
    const members = procs.flatMap((proc) => (proc.rank !== RANK_WILDCARD ? [nameOf(proc)]
      : Array.from({ length: this.#nspaces.get(proc.nspace)?.size ?? 0 }, (_, rank) => `${proc.nspace}.${rank}`)));
    const key = `${kind} ${members.sort().join(' ')}`;
    const collective = this.#collectives.get(key) ?? { missing: new Set(members), answers: [] };
    this.#collectives.set(key, collective);
    collective.missing.delete(nameOf(self));
    collective.answers.push(answer);
    if (collective.missing.size > 0) return;
    this.#collectives.delete(key);
    for (const each of collective.answers) each();
  }
}

function write({ socket, dialogue }: Connection, bytes: Uint8Array): void {
  dialogue.push(['<', hex(bytes)]);
  socket.write(bytes);
}
