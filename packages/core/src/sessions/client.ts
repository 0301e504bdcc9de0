/**
 * A front-end in a process of its own, connected to a session that stays: submits a job or attaches to one, and gives
 * its events and output to the run as the front-end of a plain stcirun would. Leaving does not end the job.
 */

import {
  CONTROLLER, FRONT_END, StciError, fromErrorRecord, toErrorRecord, type Channel, type FrontEnd, type FrontEndEvents,
  type JobControl, type JobEvent, type JobId, type JobMap, type JobReport, type JobSpec, type Params,
  type Platform, type StdinTo,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import type { HostOutcome } from '../hosts/elastic-hosts.js';
import { sourceRank, sourceStream } from '../iof/source.js';
import type { MessageBody, MessageName } from '../messages/messages.js';
import {
  ALL_CALLS, LABEL_CHARS_MAX, costOf, inputCost, type Reported, type Tally, type WireRecord,
} from '../messages/records.js';
import type { AgentNode } from '../node/node.js';
import { ExperimentCalls } from './experiment-calls.js';
import { ReportBuilder } from './report-builder.js';
import { sessionLink, sessionNode, type SessionKey } from './session-link.js';
import { UnackedRecords } from './unacked-records.js';

/** Credit of this front-end: records that it has not yet dealt with. */
export const CREDIT_BYTES = 1 << 20;
/** Credit is returned in portions. */
const PORTION_BYTES = CREDIT_BYTES / 8;
/** Input that may be under way. */
export const INPUT_BYTES = 256 * 1024;

export interface ClientInit {
  readonly platform: Platform;
  readonly params: Params;
  readonly channel: Channel;
  readonly key: SessionKey;
  /** For messages. */
  readonly name: string;
  /** Why the channel has ended, where more is known. */
  readonly reasonOf?: (text: string) => string;
}

/** A job that this client submitted, or attached to. */
export interface AcceptedJob {
  readonly job: JobId;
  readonly stdin: StdinTo;
  readonly map: JobMap;
  /** This front-end's input is taken; else that of another, until it leaves. */
  readonly input: boolean;
}

export interface JobRequest {
  readonly wait: boolean;
  readonly detach: boolean;
  readonly label: string;
}

export type AgentMetrics = Omit<MessageBody<'client.measured'>, 'call'>;

type CallName = `client.${'submit' | 'attach' | 'wait' | 'add' | 'remove' | 'metrics'}`;

/** How long the session may take for what a front-end sent before it leaves. */
const LEAVE_MS = 2000;

type Done<T> = (error: StciError | undefined, value?: T) => void;

interface Call {
  readonly done: Done<unknown>;
  onPart(part: unknown): void;
}

export class SessionClient {
  readonly #init: ClientInit;
  readonly #node: AgentNode;
  readonly #link: Link;
  /** Fault injection. */
  readonly experiment: ExperimentCalls;
  /** By number, those that are not answered. */
  readonly #calls = new Map<number, Call>();
  #lastCall = 0;
  /** That of the job which is followed. */
  #jobCall: number | undefined;
  #frontEnd: SessionFrontEnd | undefined;
  #lost: StciError | undefined;
  #onClosed: () => void = () => undefined;

  constructor(init: ClientInit) {
    this.#init = init;
    const { platform, params, channel, key } = init;
    this.#node = sessionNode({ platform, params, key, self: FRONT_END });
    this.#link = sessionLink({
      node: this.#node, channel, role: 'connect',
      admit: (peer) => (peer === CONTROLLER ? undefined : 'it is no session'),
      onClosed: (text) => this.#onLost(text),
    });
    this.experiment = new ExperimentCalls({ node: this.#node, lost: () => this.#lost });
    const { messages } = this.#node;
    messages.on('client.accepted', ({ call, ...job }) => this.#settle(call, undefined, job));
    messages.on('client.refused', ({ call, error }) => this.#onRefused(call, fromErrorRecord(error)));
    messages.on('client.ended', ({ call, report }) => this.#settle(call, undefined, report));
    messages.on('client.changed', ({ call, outcomes }) => this.#settle(call, undefined, outcomes));
    messages.on('client.measured', ({ call, ...measured }) => this.#calls.get(call)?.onPart(measured));
    messages.on('client.gathered', ({ call, silent }) => this.#settle(call, undefined, silent));
    messages.on('client.waiting', ({ call, reason }) => this.#calls.get(call)?.onPart(reason));
    messages.on('client.records', ({ records, missed }) => this.#frontEnd?.onRecords(records, new Map(missed)));
    messages.on('client.room', ({ bytes }) => this.#frontEnd?.onRoom(bytes));
    messages.on('client.unread', () => this.#frontEnd?.onUnread());
  }

  submit(spec: JobSpec, request: JobRequest, onWaiting: (reason: string) => void, done: Done<AcceptedJob>): void {
    const label = request.label.slice(0, LABEL_CHARS_MAX);
    this.#jobCall = this.#ask('client.submit', { spec, ...request, label }, done, onWaiting);
  }

  attach(job: JobId, options: { readonly all: boolean; readonly input: boolean }, done: Done<AcceptedJob>): void {
    this.#jobCall = this.#ask('client.attach', { job, ...options }, done);
  }

  /** Its report when it has ended, without ranks and failures. */
  wait(job: JobId, done: Done<JobReport>): void {
    this.#ask('client.wait', { job }, done);
  }

  /** What became of each host, when all are up, have left, or have failed. */
  change<Name extends 'client.add' | 'client.remove'>(
    name: Name, body: Omit<MessageBody<Name>, 'call'>, done: Done<readonly HostOutcome[]>,
  ): void {
    this.#ask(name, body, done);
  }

  /** Metrics of each agent, then the names of those that did not answer. */
  metrics(onAgent: (metrics: AgentMetrics) => void, done: Done<readonly string[]>): void {
    this.#ask('client.metrics', {}, done, onAgent);
  }

  /** A request of the session itself. */
  request<Name extends 'client.status' | 'client.topology' | 'client.ranks' | 'client.signal' | 'client.stop'>(
    name: Name,
    body: MessageBody<Name>,
    done: (error: StciError | undefined, reply: unknown) => void,
  ): void {
    if (this.#lost !== undefined) return done(this.#lost, undefined);
    this.#node.messages.request(CONTROLLER, name, body, (error, reply) => done(this.#lost ?? error, reply));
  }

  /** The front-end of the job that was accepted. `onMissed` tells of output that was dropped. */
  follow(events: FrontEndEvents, onMissed: () => void): FrontEnd {
    const frontEnd = new SessionFrontEnd((name, body) => this.#send(name, body), events, onMissed, {
      close: () => this.close(),
      leave: () => this.#leave(),
    });
    this.#frontEnd = frontEnd;
    this.#onClosed = () => events.onStopped();
    if (this.#lost !== undefined) this.#node.platform.clock.soon(() => this.#fail());
    return frontEnd;
  }

  /** Leaves: what was sent before arrives. */
  close(): void {
    this.#link.close();
  }

  /** Leaves a job that runs: a session that was writing to a closed socket would not read what was sent before. */
  #leave(): void {
    this.#node.messages.request(CONTROLLER, 'agent.echo', {}, () => this.close(), { timeoutMs: LEAVE_MS });
  }

  /** `done` is called once; `onPart` with what comes before. Returns the number of the call. */
  #ask<Name extends CallName, Answer, Part>(
    name: Name, body: Omit<MessageBody<Name>, 'call'>, done: Done<Answer>, onPart?: (part: Part) => void,
  ): number {
    this.#lastCall += 1;
    const call = this.#lastCall;
    this.#calls.set(call, { done: done as Done<unknown>, onPart: (part) => onPart?.(part as Part) });
    const error = this.#lost ?? this.#send(name, { ...body, call } as MessageBody<Name>);
    if (error !== undefined) this.#settle(call, error);
    return call;
  }

  #settle(call: number, error: StciError | undefined, answer?: unknown): void {
    const found = this.#calls.get(call);
    this.#calls.delete(call);
    found?.done(error, answer);
  }

  /** One that was answered is of the job that is followed: its records cannot be sent any more. */
  #onRefused(call: number, error: StciError): void {
    if (call === ALL_CALLS) this.#answer(error);
    else if (this.#calls.has(call)) this.#settle(call, error);
    else if (call === this.#jobCall) this.#frontEnd?.onLost(error);
  }

  #answer(error: StciError): void {
    for (const call of [...this.#calls.keys()]) this.#settle(call, error);
    this.experiment.onLost(error);
    this.#frontEnd?.onLost(error);
  }

  #send<Name extends MessageName>(name: Name, body: MessageBody<Name>): StciError | undefined {
    return this.#lost === undefined ? this.#node.messages.send(CONTROLLER, name, body) : undefined;
  }

  #onLost(text: string): void {
    const { name, reasonOf } = this.#init;
    const reason = (reasonOf?.(text) ?? text).replace(/\.$/u, '');
    this.#lost = new StciError('STCI_SESSION_LOST', `The connection to session ${name} has ended: ${reason}.`);
    this.#answer(this.#lost);
    this.#node.close();
    this.#fail();
  }

  #fail(): void {
    this.#frontEnd?.onLost(this.#lost as StciError);
    this.#onClosed();
    this.#onClosed = () => undefined;
  }
}

type Send = <Name extends MessageName>(name: Name, body: MessageBody<Name>) => void;

class SessionFrontEnd implements FrontEnd {
  readonly #send: Send;
  readonly #events: FrontEndEvents;
  readonly #onMissed: () => void;
  readonly #ways: { close(): void; leave(): void };
  readonly #report = new ReportBuilder();
  #isEnded = false;
  #isStopping = false;
  readonly #unshown = new UnackedRecords();
  /** Dealt with, and not yet returned as credit. */
  #done = 0;
  /** Input under way. */
  #input = 0;
  readonly #missed: Tally = new Map();

  constructor(send: Send, events: FrontEndEvents, onMissed: () => void, ways: { close(): void; leave(): void }) {
    this.#send = send;
    this.#events = events;
    this.#onMissed = onMissed;
    this.#ways = ways;
  }

  /** The session has the job: its records may come. */
  submit(): void {
    this.#send('client.credit', { bytes: CREDIT_BYTES, shown: 0 });
  }

  control(control: JobControl): void {
    this.#send('client.control', control);
  }

  writeStdin(chunk: Uint8Array): boolean {
    this.#sendInput(chunk);
    return this.#input < INPUT_BYTES;
  }

  closeStdin(): void {
    this.#sendInput(new Uint8Array(0));
  }

  #sendInput(data: Uint8Array): void {
    this.#send('client.input', { data });
    this.#input += inputCost(data);
  }

  /** The session's link has no lease. */
  announceSilence(): void {}

  /** Leaves when all that came is shown, so that no other front-end shows it again; the second time at once. */
  stop(): void {
    if (this.#isStopping || this.#unshown.openBytes === 0) {
      this.#grant(); // What is shown is not shown again.
      this.#leave();
    }
    this.#isStopping = true;
  }

  onRoom(bytes: number): void {
    const wasFull = this.#input >= INPUT_BYTES;
    this.#input -= bytes;
    if (wasFull && this.#input < INPUT_BYTES) this.#events.onStdinDrain();
  }

  onUnread(): void {
    this.#events.onStdinClosed();
  }

  onRecords(records: readonly WireRecord[], missed: Tally): void {
    if (missed.size > 0) this.#onMissed();
    for (const [source, bytes] of missed) this.#missed.set(source, (this.#missed.get(source) ?? 0) + bytes);
    const releases = records.map((record) => this.#open(costOf(record)));
    for (const [index, record] of records.entries()) {
      const release = releases[index] as () => void;
      if (Array.isArray(record)) {
        const [source, wallMs, chunk] = record as Extract<WireRecord, readonly unknown[]>;
        this.#events.onOutput(sourceRank(source), sourceStream(source), chunk, wallMs, release);
      } else {
        this.#onEvent(record as Exclude<WireRecord, readonly unknown[]>);
        release();
      }
    }
  }

  onLost(error: StciError): void {
    if (this.#isEnded) return;
    const record = toErrorRecord(error);
    this.#events.onJobEvent({ type: 'failure', error: record });
    this.#onEvent({
      type: 'ended',
      report: {
        job: 0, exitCode: error.exitCode, cause: record, failures: [], ranks: [], daemons: [],
        submitWallMs: 0, endWallMs: 0,
      },
    });
  }

  #onEvent(event: JobEvent | Reported): void {
    switch (event.type) {
      case 'reported':
        return this.#report.failed(event.error);
      case 'mapped':
        this.#report.mapped(event.map);
        break;
      case 'exited':
        this.#report.exited(event.report);
        break;
      case 'ended':
        if (this.#isEnded) return;
        this.#isEnded = true;
        return this.#events.onJobEvent({ type: 'ended', report: this.#complete(event.report) });
    }
    this.#events.onJobEvent(event);
  }

  #complete(summary: JobReport): JobReport {
    const report = this.#report.complete(summary);
    const dropped = [...this.#missed].filter(([, bytes]) => bytes > 0).sort(([a], [b]) => a - b)
      .map(([source, bytes]) => ({ rank: sourceRank(source), stream: sourceStream(source), bytes }));
    return dropped.length === 0 ? report : { ...report, dropped };
  }

  #open(cost: number): () => void {
    const onDone = this.#unshown.add(cost);
    return () => {
      onDone();
      this.#done += cost;
      // At once where nothing is left: who attaches next sees what this front-end has not shown.
      const isLast = this.#unshown.openBytes === 0;
      if (this.#done < PORTION_BYTES && !isLast) return;
      this.#grant();
      if (this.#isStopping && isLast) this.#leave();
    };
  }

  #leave(): void {
    if (this.#isEnded) this.#ways.close();
    else this.#ways.leave();
  }

  #grant(): void {
    if (this.#done > 0) this.#send('client.credit', { bytes: this.#done, shown: this.#unshown.takeShown() });
    this.#done = 0;
  }
}
