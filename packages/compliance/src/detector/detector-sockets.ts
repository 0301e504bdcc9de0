/**
 * Detectors on this machine's clock and sockets, each under the failure watch that agents run (`FailureWatch` of core):
 * one Unix socket between any two of them, whose messages are encoded as on links. An agent that dies falls silent, its
 * connections stay open, as if its host had lost its power. All run in this process: what delays one delays all.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FailureWatch } from '@stci/core/failure-watch';
import { decode, encode, notifierDirect, type Overlay, type OverlayEvents } from '@stci/core';
import { MemberView } from '@stci/core/component';
import type { Clock, DetectorModule, Evidence, MemberId, Position, Topology } from '@stci/interface';
import { answerMsOf } from './detector-model.js';

export interface DetectorSocketsInit {
  readonly name: string;
  readonly module: DetectorModule;
  readonly size: number;
  readonly latencyBoundMs: number;
  readonly topologyOf?: ((size: number) => Topology) | undefined;
  /** Whose links' ends the agents see when one dies. */
  readonly links?: Topology | undefined;
}

interface Agent {
  readonly watch: FailureWatch;
  readonly server: Server;
  readonly peers: Map<Position, Socket>;
  /** As it was told, its own reports included. */
  readonly told: Evidence[];
  isSilent: boolean;
}

type Message = Parameters<FailureWatch['onMessage']>[1];

const LENGTH_BYTES = 4;

export class DetectorSockets {
  /** What the watches complain of. */
  readonly faults: string[] = [];
  readonly #init: DetectorSocketsInit;
  readonly #directory = mkdtempSync(join(tmpdir(), 'stci-detector-'));
  readonly #agents: Agent[];
  readonly #linkEvents = new Map<Position, OverlayEvents>();

  constructor(init: DetectorSocketsInit) {
    this.#init = init;
    this.#agents = Array.from({ length: init.size }, (_, position) => this.#agent(position));
  }

  /** Once all listen. */
  async start(): Promise<void> {
    await Promise.all(this.#agents.map(({ server }, position) => new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#path(position), resolve);
    })));
    const members = this.#agents.map((_, position) => first(position));
    for (const { watch } of this.#agents) watch.start(members);
  }

  /** Notices that each of those that live was told. */
  get told(): readonly (readonly Evidence[])[] {
    return this.#agents.filter(({ isSilent }) => !isSilent).map(({ told }) => told);
  }

  silence(position: Position): void {
    this.#at(position).isSilent = true;
    this.#at(position).watch.stop();
    for (const peer of this.#init.links?.neighbours(position) ?? []) {
      this.#linkEvents.get(peer)?.onClosed(first(position), 'lost', '');
    }
  }

  /** Somebody at each agent waits for all, for as long as this runs. */
  waitForAll(): void {
    for (const { watch, isSilent } of this.#agents) if (!isSilent) watch.waiting(1, 'all');
  }

  end(): void {
    for (const { watch, server, peers } of this.#agents) {
      watch.stop();
      server.close();
      for (const socket of peers.values()) socket.destroy();
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #at(position: Position): Agent {
    return this.#agents[position] as Agent;
  }

  #path(position: Position): string {
    return join(this.#directory, String(position));
  }

  #agent(position: Position): Agent {
    const { name, module, latencyBoundMs, topologyOf } = this.#init;
    const told: Evidence[] = [];
    const watch = new FailureWatch(
      {
        clock: CLOCK, overlayTopology: '', overlay: this.#overlay(position),
        promiseRequest: (members) => ({ members, latencyBoundMs, answerMs: answerMsOf(latencyBoundMs) }),
        detectors: [{ name, module, notifier: 'direct', isNamed: true }],
        notifier: () => notifierDirect.create({}, {}, undefined),
        topologyOf: (_text, size) => topologyOf?.(size) as Topology,
        random: Math.random,
      },
      {
        onSuspected: () => undefined,
        onNotice: (notice, news) => news === 'new' && told.push(notice),
        onFenced: (reason) => this.faults.push(`${position}: ${reason}`),
        onCutOff: (evidence) => this.faults.push(`${position} does not hear the controller: ${evidence}`),
        onFault: (error, where) => this.faults.push(`${position}: ${where}: ${error.message}`),
      },
    );
    // A socket that was accepted ends with the other end's.
    const server = createServer((socket) => this.#receive(position, socket));
    return { watch, server, peers: new Map(), told, isSilent: false };
  }

  #overlay(position: Position): Overlay {
    const linkEvents = this.#linkEvents;
    const send = (to: Position, _name: string, message: unknown): undefined => void this.#send(position, to, message);
    return {
      self: first(position), topology: undefined, members: new MemberView(first(position)),
      set events(events: OverlayEvents) { linkEvents.set(position, events); },
      whenOpen: (call) => call(), isLinked: () => true, send, sendReliably: send, checkLink: () => undefined,
    };
  }

  #send(from: Position, to: Position, message: unknown): void {
    const { peers, isSilent } = this.#at(from);
    if (isSilent) return;
    let socket = peers.get(to);
    if (socket === undefined) {
      socket = connect(this.#path(to)).on('error', (error) => this.faults.push(`${from} to ${to}: ${error.message}`));
      peers.set(to, socket);
    }
    const body = encode([from, message]);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(body.length);
    socket.write(Buffer.concat([length, body]));
  }

  #receive(to: Position, socket: Socket): void {
    let rest = Buffer.alloc(0);
    socket.on('error', (error) => this.faults.push(`at ${to}: ${error.message}`)).on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        if (rest.length < LENGTH_BYTES) return;
        const end = LENGTH_BYTES + rest.readUInt32BE();
        if (rest.length < end) return;
        const [from, message] = decode(rest.subarray(LENGTH_BYTES, end)) as [Position, Message];
        rest = rest.subarray(end);
        const { watch, isSilent } = this.#at(to);
        if (!isSilent) watch.onMessage(from, message);
      }
    });
  }
}

const CLOCK: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: (delayMs, fire) => {
    const timer = setTimeout(fire, Math.ceil(delayMs));
    return { cancel: () => clearTimeout(timer) };
  },
  soon: setImmediate,
};

function first(position: Position): MemberId {
  return { position, incarnation: position === 0 ? 0 : 1 };
}
