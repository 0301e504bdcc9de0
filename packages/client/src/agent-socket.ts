/** Records over the session agent's socket: whole events, of known form, in order. */

import { connect, type Socket } from 'node:net';
import {
  AGENT_LINE_BYTES_MAX, PROGRAM_MESSAGE_BYTES_MAX, RecordReader, programRecord, type ProgramEvent, type ProgramRequest,
  type RecordHead,
} from '@stci/interface';
import { isEvent } from './event-forms.js';

/** Longest read. One buffer for all costs less than one of each. */
const READ_BYTES = 64 * 1024;

/** The agent's side, of a real agent or of a job of one. */
export interface AgentLink {
  send(request: ProgramRequest, bytes?: Uint8Array): void;
  /** Whether it keeps the process running. */
  hold(on: boolean): void;
  /** What has been sent still arrives. */
  close(): void;
  destroy(reason: string): void;
}

export interface AgentLinkEvents {
  onEvent(event: ProgramEvent, bytes: Uint8Array): void;
  /** Called once, last. `reason`: a sentence's rest, for messages. */
  onClosed(reason: string): void;
}

export class AgentSocket implements AgentLink {
  readonly #socket: Socket;
  /** The last one, which comes again where its line does. */
  #checked: RecordHead | undefined;
  #reason = 'the session agent closed it';

  constructor(path: string, events: AgentLinkEvents) {
    const limits = { lineBytesMax: AGENT_LINE_BYTES_MAX, bytesMax: PROGRAM_MESSAGE_BYTES_MAX };
    const reader = new RecordReader(limits, (head, bytes) => this.#onRecord(head, bytes, events));
    const callback = (bytes: number, chunk: Uint8Array): boolean => {
      const problem = this.#socket.destroyed ? undefined : reader.add(chunk.subarray(0, bytes));
      if (problem !== undefined) this.destroy(`the session agent broke the protocol: ${problem}`);
      return true;
    };
    this.#socket = connect({ path, onread: { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback } });
    this.#socket.on('error', (error) => (this.#reason = error.message));
    this.#socket.on('close', () => events.onClosed(this.#reason));
  }

  send(request: ProgramRequest, bytes?: Uint8Array): void {
    this.#socket.write(programRecord(request, bytes));
  }

  hold(on: boolean): void {
    if (on) this.#socket.ref();
    else this.#socket.unref();
  }

  close(): void {
    this.#socket.end();
    this.#socket.unref();
  }

  destroy(reason: string): void {
    this.#reason = reason;
    this.#socket.destroy();
  }

  #onRecord(head: RecordHead, bytes: Uint8Array, events: AgentLinkEvents): void {
    if (this.#socket.destroyed) return;
    if (head === this.#checked || isEvent(head)) {
      this.#checked = head;
      events.onEvent(head as RecordHead & ProgramEvent, bytes);
    } else this.destroy('the session agent broke the protocol');
  }
}
