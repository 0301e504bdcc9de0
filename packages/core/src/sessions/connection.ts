/**
 * The session's end of a front-end's connection: answers its calls, and sends it a job's records as fast as it takes
 * them (credit). When it goes, however it goes, the job stays.
 */

import {
  CONTROLLER, StciError, addressKind, type Channel, type Params, type Platform,
} from '@stci/interface';
import { Later, type Answer } from '../am/answer.js';
import { soonOnce } from '../event/soon-once.js';
import type { Scope } from '../event/scope.js';
import type { MessageReply } from '../messages/messages.js';
import { costOf, inputCost, toWire } from '../messages/records.js';
import type { AgentNode } from '../node/node.js';
import type { FollowOptions, JobFollower, RecordReader } from './contracts.js';
import { EXPERIMENT_MESSAGES, ExperimentEndpoint } from './experiment-endpoint.js';
import { LateCalls } from './late-calls.js';
import type { ResidentJob } from './resident-job.js';
import { CREDIT_BYTES, INPUT_BYTES } from './session-front-end.js';
import type { SessionJobs } from './session-jobs.js';
import { sessionLink, sessionNode, type SessionKey } from './session-link.js';

/** Records of one message, which is longer than they count for where they are no ASCII. */
const BATCH_BYTES = 256 * 1024;
const BATCH_FRACTION = 1 / 4;

/** Input that waits: more than a front-end has under way, which reads once more each time it is continued (fg). */
const INPUT_WAITING_MAX = 16 * INPUT_BYTES;

export interface ConnectionInit {
  readonly platform: Platform;
  readonly params: Params;
  readonly channel: Channel;
  /** Until it ends. */
  readonly holds: Scope;
  readonly key: SessionKey;
  readonly service: SessionJobs;
  readonly onClosed: () => void;
}

export class SessionConnection implements JobFollower {
  readonly #init: ConnectionInit;
  readonly #node: AgentNode;
  readonly #close: () => void;
  readonly #batchBytes: number;
  readonly #calls: LateCalls;
  /** It has submitted a job, or attached to one. */
  #hasAsked = false;
  #job: ResidentJob | undefined;
  #reader: RecordReader | undefined;
  /** Where its records go. */
  #records: Answer<'client.follow'> | undefined;
  #isUnread = false;
  #credit = CREDIT_BYTES;
  #isReading = false;
  readonly onMore: () => void;
  #isFinishing = false;
  /** Input that the tools have no room for yet. */
  readonly #waitingInput: Answer<'client.input'>[] = [];
  #waitingBytes = 0;
  #isClosed = false;

  constructor(init: ConnectionInit) {
    this.#init = init;
    this.onMore = soonOnce(init.platform.clock, () => this.#pump());
    this.#batchBytes = Math.min(BATCH_BYTES, init.params.int('message.bytes.max') * BATCH_FRACTION);
    const { platform, params, channel, holds, key } = init;
    this.#node = sessionNode({ platform, params, key, holds, self: CONTROLLER });
    const link = sessionLink({
      node: this.#node, channel, role: 'accept', onClosed: () => this.#onClosed(),
      admit: (peer) => (addressKind(peer) === 'front-end' ? undefined : 'it is no front-end'),
    });
    this.#close = () => link.close();
    this.#calls = new LateCalls(this.#node.messages, holds);
    this.#listen();
    this.#listenForJob();
    this.#listenForExperiment();
  }

  /** Closes as soon as all that there is has been sent. */
  finish(): void {
    this.#isFinishing = true;
    this.#closeIfSent();
  }

  /** What it has asked for does not come: the session ends with this error. */
  fail(error: StciError): void {
    this.#calls.fail(error);
  }

  /** Soon, so that what comes in one turn goes in one message. */
  onStdinDrain(): void {
    this.#waitingBytes = 0;
    for (const answer of this.#waitingInput.splice(0)) answer.done(undefined);
  }

  onStdinClosed(): void {
    this.#isUnread = true;
    this.#records?.part({ records: [], missed: [], unread: true });
  }

  #listen(): void {
    const { messages } = this.#node;
    const { service } = this.#init;
    const { session } = service;
    messages.on('client.status', () => service.status());
    messages.on('client.ranks', ({ job, from }) => service.job(job).ranks(from));
    messages.on('client.signal', ({ job, signal }) => service.job(job).signal(signal));
    messages.on('client.stop', () => service.stop());
    this.#calls.on('client.wait', ({ job }, answer) => service.job(job).onEnd((report) => answer.done(report)));
    this.#calls.on('client.metrics', (_body, answer) => session.gatherMetrics({
      onAgent: (agent, rows) => answer.part({ agent, rows }),
      onDone: (silent, error) => (error === undefined ? answer.done(silent) : answer.fail(error)),
    }));
    this.#calls.on('client.held', (_body, answer) => session.gatherHeld({
      onAgent: (host, agent, rows) => answer.part({ host, agent, rows }),
      onDone: (silent) => answer.done(silent),
    }));
    this.#calls.on('client.topology', (_body, answer) => session.gatherLinks({
      onAgent: (agent) => answer.part(agent),
      onDone: (overlay) => answer.done(overlay),
    }));
    this.#calls.on('client.add', ({ hosts }, answer) => service.addHosts(hosts, (outcomes) => answer.done(outcomes)));
    this.#calls.on('client.remove', ({ names, ...how }, answer) =>
      service.removeHosts(names, how, (outcomes) => answer.done(outcomes)));
  }

  /** Of the one job that the connection is for. */
  #listenForJob(): void {
    const { messages } = this.#node;
    const { service } = this.#init;
    this.#calls.on('client.submit', ({ spec, wait, label, detach }, answer) => {
      this.#ask();
      return service.submit(spec, { wait, label }, {
        onAccepted: (job) => {
          if (!this.#isClosed) answer.done(this.#accept(job, detach ? undefined : { all: false, input: true }));
        },
        onRefused: (error) => {
          this.#hasAsked = false;
          answer.fail(error);
        },
        onWaiting: (reason) => answer.part(reason),
      });
    });
    messages.on('client.attach', ({ job, ...how }) => {
      const found = service.job(job);
      this.#ask();
      return this.#accept(found, how);
    });
    this.#calls.on('client.follow', (_body, answer) => {
      this.#records = answer;
      if (this.#isUnread) this.onStdinClosed();
      this.#pump();
    });
    messages.on('client.credit', ({ bytes, shown }) => {
      this.#credit = Math.min(CREDIT_BYTES, this.#credit + bytes);
      this.#reader?.acknowledge(shown);
      this.#pump();
    });
    messages.on('client.input', ({ data }) => new Later<'client.input'>((answer) => this.#write(data, answer)));
    messages.on('client.control', (control) => this.#job?.control(control));
  }

  #listenForExperiment(): void {
    const { messages } = this.#node;
    const { service } = this.#init;
    messages.lazy.add(EXPERIMENT_MESSAGES, (done) => service.session.useFaults((faults, error) => {
      if (faults === undefined) return done(error);
      const experiment = new ExperimentEndpoint({ messages, calls: this.#calls, faults, service });
      // The front-end may have gone meanwhile: it begins its experiment, and leaves it at once.
      done();
      this.#init.holds.hold('experiment', () => experiment.close());
    }));
  }

  #ask(): void {
    if (this.#hasAsked) throw new StciError('STCI_SESSION_REFUSED', 'This connection has a job already.');
    this.#hasAsked = true;
  }

  #accept(job: ResidentJob, follow: FollowOptions | undefined): MessageReply<'client.attach'> {
    this.#job = job;
    if (follow !== undefined) {
      const reader = job.follow(this, follow);
      this.#reader = reader;
      this.#init.holds.hold(`output of job ${job.job}`, () => reader.close());
    }
    return { job: job.job, stdin: job.stdin, map: job.map, input: job.isWriter(this) };
  }

  #closeIfSent(): void {
    const isSent = this.#reader === undefined || (this.#reader.isAtEnd && !this.#isReading);
    if (this.#isFinishing && isSent) this.#close();
  }

  #pump(): void {
    this.#closeIfSent();
    const [reader, answer] = [this.#reader, this.#records];
    if (reader === undefined || answer === undefined || answer.isOver || this.#isReading || this.#isClosed) return;
    if (this.#credit <= 0 || reader.isAtEnd) return;
    this.#isReading = true;
    reader.read(Math.min(this.#batchBytes, this.#credit), ({ records, missed }) => {
      this.#isReading = false;
      if (this.#isClosed) return;
      const wire = records.map(toWire);
      for (const record of wire) this.#credit -= costOf(record);
      if (wire.length === 0 && missed.size === 0) return this.#closeIfSent(); // The next `onMore` goes on.
      answer.part({ records: wire, missed: [...missed], unread: false });
      this.#pump();
    });
  }

  #write(chunk: Uint8Array, answer: Answer<'client.input'>): void {
    if (this.#waitingBytes >= INPUT_WAITING_MAX) {
      const text = `Expected no more input while ${this.#waitingBytes} bytes wait, got ${chunk.length}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    if (this.#job?.writeStdin(this, chunk) !== false) return answer.done(undefined);
    this.#waitingBytes += inputCost(chunk);
    this.#waitingInput.push(answer);
  }

  #onClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#node.close();
    this.#init.onClosed();
  }
}
