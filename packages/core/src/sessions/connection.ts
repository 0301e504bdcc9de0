/**
 * The session's end of a front-end's connection: takes its commands, and sends it a job's records as fast as it takes
 * them (credit). When it goes, however it goes, the job stays.
 */

import {
  CONTROLLER, FRONT_END, StciError, addressKind, toErrorRecord, type Channel, type Params, type Platform,
} from '@stci/interface';
import type { HostsChanged } from '../hosts/elastic-hosts.js';
import type { MessageBody, MessageName } from '../messages/messages.js';
import { ALL_CALLS, costOf, inputCost, toWire } from '../messages/records.js';
import { AgentNode } from '../node/node.js';
import { CREDIT_BYTES, INPUT_BYTES } from './client.js';
import type { JobFollower, RecordReader, SessionJob, SessionService } from './contracts.js';
import { ExperimentEndpoint, type ExperimentEndpointInit } from './experiment-endpoint.js';
import { sessionLink, sessionNode, type SessionKey } from './session-link.js';

/** Records of one message, which is longer than they count for where they are no ASCII. */
const BATCH_BYTES = 256 * 1024;
const BATCH_FRACTION = 1 / 4;

/** Calls of one front-end, by kind, whose answers are still to come; each of `metrics` is a request to every agent. */
const CALLS_MAX = { submit: 1, wait: 1024, change: 64, metrics: 16 };

/** Input that waits: more than a front-end has under way, which reads once more each time it is continued (fg). */
const INPUT_WAITING_MAX = 16 * INPUT_BYTES;

interface OpenCall {
  /** The connection has ended. */
  cancel: () => void;
  isAnswered: boolean;
}

export interface ConnectionInit {
  readonly platform: Platform;
  readonly params: Params;
  readonly channel: Channel;
  readonly key: SessionKey;
  readonly service: SessionService;
  readonly onClosed: () => void;
}

export class SessionConnection implements JobFollower {
  readonly #init: ConnectionInit;
  readonly #node: AgentNode;
  readonly #close: () => void;
  readonly #batchBytes: number;
  /** It has submitted a job, or attached to one. */
  #hasAsked = false;
  /** For that. */
  #jobCall = ALL_CALLS;
  #job: SessionJob | undefined;
  #reader: RecordReader | undefined;
  readonly #calls = {
    submit: new Set<OpenCall>(), wait: new Set<OpenCall>(), change: new Set<OpenCall>(), metrics: new Set<OpenCall>(),
  };
  readonly #experiment: ExperimentEndpoint;
  #credit = 0;
  #isReading = false;
  #isPumpDue = false;
  #isFinishing = false;
  /** What input counts for that the tools have no room for yet. */
  #waitingInput = 0;
  #isClosed = false;

  constructor(init: ConnectionInit) {
    this.#init = init;
    this.#batchBytes = Math.min(BATCH_BYTES, init.params.int('message.bytes.max') * BATCH_FRACTION);
    const { platform, params, channel, key } = init;
    this.#node = sessionNode({ platform, params, key, self: CONTROLLER });
    const link = sessionLink({
      node: this.#node, channel, role: 'accept', onClosed: () => this.#onClosed(),
      admit: (peer) => (addressKind(peer) === 'front-end' ? undefined : 'it is no front-end'),
    });
    this.#close = () => link.close();
    this.#listen();
    this.#listenForCalls();
    const { service } = init;
    const send: ExperimentEndpointInit['send'] = (name, body) => this.#send(name, body);
    this.#experiment = new ExperimentEndpoint({ node: this.#node, service, send });
  }

  /** Closes as soon as all that there is has been sent. */
  finish(): void {
    this.#isFinishing = true;
    this.#closeIfSent();
  }

  /** What it has asked for does not come: the session ends with this error. */
  fail(error: StciError): void {
    this.#refuse(ALL_CALLS, error);
  }

  /** Soon, so that what comes in one turn goes in one message. */
  onMore(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    this.#init.platform.clock.soon(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  onStdinDrain(): void {
    if (this.#waitingInput > 0) this.#send('client.room', { bytes: this.#waitingInput });
    this.#waitingInput = 0;
  }

  onStdinClosed(): void {
    this.#send('client.unread', {});
  }

  #listen(): void {
    const { messages } = this.#node;
    const { service } = this.#init;
    messages.on('client.submit', ({ call, spec, wait, label, detach }) => this.#begin(call, 'submit', (onAnswered) => {
      this.#ask(call);
      return service.submit(spec, { wait, label }, {
        onAccepted: (job) => {
          onAnswered();
          this.#accept(call, job, detach ? undefined : { all: false, input: true });
        },
        onRefused: (error) => {
          onAnswered();
          this.#hasAsked = false;
          this.#refuse(call, error);
        },
        onWaiting: (reason) => this.#send('client.waiting', { call, reason }),
      });
    }));
    messages.on('client.attach', ({ call, job, all, input }) => this.#try(call, () => {
      const found = service.job(job);
      this.#ask(call);
      this.#accept(call, found, { all, input });
    }));
    messages.on('client.credit', ({ bytes, shown }) => {
      this.#credit = Math.min(CREDIT_BYTES, this.#credit + bytes);
      this.#reader?.acknowledge(shown);
      this.#pump();
    });
    messages.on('client.input', ({ data }) => this.#write(data));
    messages.on('client.control', (control) => this.#job?.control(control));
    messages.on('client.status', () => service.status());
    messages.on('client.topology', ({ survey }) => service.topology(survey));
    messages.on('client.ranks', ({ job, from }) => service.ranks(job, from));
    messages.on('client.signal', ({ job, signal }) => service.signal(job, signal));
    messages.on('client.stop', () => service.stop());
  }

  /** Calls that are answered once a job has ended, all agents have answered, or hosts have come or gone. */
  #listenForCalls(): void {
    const { messages } = this.#node;
    const { service } = this.#init;
    messages.on('client.wait', ({ call, job }) => this.#begin(call, 'wait', (onAnswered) =>
      service.job(job).onEnd((report) => {
        onAnswered();
        this.#send('client.ended', { call, report });
      })));
    messages.on('client.metrics', ({ call }) => this.#begin(call, 'metrics', (onAnswered) => service.gatherMetrics({
      onAgent: (agent, rows) => this.#send('client.measured', { call, agent, rows }),
      onDone: (silent) => {
        onAnswered();
        this.#send('client.gathered', { call, silent });
      },
    })));
    const onChanged = (call: number, onAnswered: () => void): HostsChanged => (outcomes) => {
      onAnswered();
      this.#send('client.changed', { call, outcomes: [...outcomes] });
    };
    messages.on('client.add', ({ call, hosts }) => this.#begin(call, 'change', (onAnswered) =>
      service.addHosts(hosts, onChanged(call, onAnswered))));
    messages.on('client.remove', ({ call, names, ...how }) => this.#begin(call, 'change', (onAnswered) =>
      service.removeHosts(names, how, onChanged(call, onAnswered))));
  }

  /** A call whose answer may take its time: `start` returns what the connection's end cancels. */
  #begin(call: number, kind: keyof typeof CALLS_MAX, start: (onAnswered: () => void) => (() => void) | void): void {
    this.#try(call, () => {
      const open = this.#calls[kind];
      if (open.size >= CALLS_MAX[kind]) {
        const text = `${open.size} calls of this connection (${kind}) wait for their answers: no more are taken.`;
        throw new StciError('STCI_SESSION_REFUSED', `${text} Ask again when one has come.`);
      }
      const own: OpenCall = { cancel: () => undefined, isAnswered: false };
      own.cancel = start(() => {
        own.isAnswered = true;
        open.delete(own);
      }) ?? own.cancel;
      if (!own.isAnswered) open.add(own);
    });
  }

  #ask(call: number): void {
    if (this.#hasAsked) throw new StciError('STCI_SESSION_REFUSED', 'This connection has a job already.');
    this.#hasAsked = true;
    this.#jobCall = call;
  }

  #accept(call: number, job: SessionJob, follow: { readonly all: boolean; readonly input: boolean } | undefined): void {
    if (this.#isClosed) return;
    this.#job = job;
    if (follow !== undefined) this.#reader = job.follow(this, follow);
    this.#send('client.accepted', { call, job: job.job, stdin: job.stdin, map: job.map, input: job.isWriter(this) });
    this.#pump();
  }

  #try(call: number, action: () => void): void {
    try {
      action();
    } catch (thrown) {
      if (!(thrown instanceof StciError)) throw thrown;
      this.#refuse(call, thrown);
    }
  }

  #refuse(call: number, error: StciError): void {
    this.#send('client.refused', { call, error: toErrorRecord(error) });
  }

  #closeIfSent(): void {
    const isSent = this.#reader === undefined || (this.#reader.isAtEnd && !this.#isReading);
    if (this.#isFinishing && isSent) this.#close();
  }

  #pump(): void {
    this.#closeIfSent();
    const reader = this.#reader;
    if (reader === undefined || this.#isReading || this.#isClosed || this.#credit <= 0 || reader.isAtEnd) return;
    this.#isReading = true;
    reader.read(Math.min(this.#batchBytes, this.#credit), ({ records, missed }) => {
      this.#isReading = false;
      if (this.#isClosed) return;
      const wire = records.map(toWire);
      for (const record of wire) this.#credit -= costOf(record);
      if (wire.length === 0 && missed.size === 0) return this.#closeIfSent(); // The next `onMore` goes on.
      this.#send('client.records', { records: wire, missed: [...missed] });
      this.#pump();
    });
  }

  #write(chunk: Uint8Array): void {
    if (this.#waitingInput >= INPUT_WAITING_MAX) {
      const text = `Expected no more input while ${this.#waitingInput} bytes wait, got ${chunk.length}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    const bytes = inputCost(chunk);
    if (this.#job?.writeStdin(this, chunk) === false) this.#waitingInput += bytes;
    else this.#send('client.room', { bytes });
  }

  #send<Name extends MessageName>(name: Name, body: MessageBody<Name>): void {
    if (this.#isClosed || this.#node.router.linkCount === 0) return;
    const error = this.#node.messages.send(FRONT_END, name, body);
    const { call = this.#jobCall } = body as { readonly call?: number };
    if (error !== undefined && name !== 'client.refused') this.#refuse(call, error);
  }

  #onClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const open of Object.values(this.#calls)) for (const { cancel } of open) cancel();
    this.#experiment.close();
    this.#reader?.close();
    this.#node.close();
    this.#init.onClosed();
  }
}
