/** One connection to the session agent, for one call: records out, records in, bytes exactly as they are. */

import { connect, type Socket } from 'node:net';
import {
  AGENT_LINE_BYTES_MAX, PROGRAM_PARTS_BYTES_MAX, PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_PROTOCOL, PROGRAM_SOCKET_VARIABLE,
  PROGRAM_TOKEN_VARIABLE, RecordReader, programRecord, type RecordHead,
} from '@stci/interface';
import { CommandError, EXIT, callError } from './errors.js';

/** How long the agent may take to welcome, and to answer what needs nobody else, ms. */
const ANSWER_MS = 60_000;

export interface Answer {
  readonly head: RecordHead;
  readonly bytes: Uint8Array;
}

interface Waiting {
  readonly types: readonly string[];
  resolve(answer: Answer): void;
  reject(error: CommandError): void;
}

/** The variables by which a rank finds its agent; undefined: a job of one. Throws where the job has no --client. */
export function findAgent(env: NodeJS.ProcessEnv): { readonly path: string; readonly token: string } | undefined {
  const [path, token] = [env[PROGRAM_SOCKET_VARIABLE], env[PROGRAM_TOKEN_VARIABLE]];
  if (path !== undefined && token !== undefined) return { path, token };
  if (env['STCI_RANK'] === undefined) return undefined;
  const text = 'the job was started without --client, so its programs cannot connect. Write: stcirun --client program';
  throw new CommandError(EXIT.connection, text);
}

export class Agent {
  readonly #socket: Socket;
  readonly #path: string;
  #waiting: Waiting | undefined;
  #ended: CommandError | undefined;
  /** As told so far. */
  readonly lost: (readonly [first: number, last: number, reason: string])[] = [];

  constructor(path: string) {
    const bytesMax = Math.max(PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_PARTS_BYTES_MAX);
    const reader = new RecordReader({ lineBytesMax: AGENT_LINE_BYTES_MAX, bytesMax }, (head, bytes) =>
      this.#onRecord({ head, bytes }));
    this.#path = path;
    this.#socket = connect({ path });
    this.#socket.on('data', (chunk) => {
      const problem = reader.add(chunk);
      if (problem !== undefined) this.#end(`it broke the protocol: ${problem}`);
    });
    this.#socket.on('error', (error) => this.#end(error.message));
    this.#socket.on('close', () => this.#end('it closed the connection'));
  }

  /** Resolves to the welcome. */
  async hello(token: string): Promise<RecordHead> {
    return (await this.#ask({ type: 'hello', version: PROGRAM_PROTOCOL, token }, ['welcome'], ANSWER_MS)).head;
  }

  /** A call that is answered by a record of this type; `withinMs` undefined: whenever that is. */
  async call(
    head: object, type: string, bytes?: Uint8Array, withinMs: number | undefined = ANSWER_MS,
  ): Promise<Answer> {
    const answer = await this.#ask({ ...head, id: 1 }, [type, 'failed-call'], withinMs, bytes);
    if (answer.head['type'] === 'failed-call') throw callError(answer.head['code'], answer.head['reason']);
    return answer;
  }

  /** A collective: the decision. */
  async vote(head: RecordHead, bytes?: Uint8Array): Promise<Answer> {
    const answer = await this.#ask({ type: 'vote', ...head }, ['agreed'], undefined, bytes);
    const { code = '', reason } = answer.head;
    if (code !== '') throw callError(code, `${String(head['kind'])}: ${String(reason)}`);
    return answer;
  }

  send(head: object): void {
    this.#socket.write(programRecord(head));
  }

  /** Closes once all that was sent has arrived. */
  close(): void {
    this.#socket.end();
    this.#socket.unref();
  }

  #ask(head: object, types: readonly string[], withinMs: number | undefined, bytes?: Uint8Array): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      const timer = withinMs === undefined ? undefined
        : setTimeout(() => this.#end(`no answer for ${withinMs / 1000} s`), withinMs);
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
      };
      this.#waiting = {
        types,
        resolve: (answer) => { done(); resolve(answer); },
        reject: (error) => { done(); reject(error); },
      };
      this.#socket.write(programRecord(head, bytes));
    });
  }

  #onRecord(answer: Answer): void {
    const { type, lost, status, reason } = answer.head;
    if (type === 'exit') process.exit(Number(status)); // An injected fault.
    if (type === 'failed' && Array.isArray(lost)) this.lost.push(...lost);
    if (type === 'refused') this.#end(String(reason));
    if (this.#waiting?.types.includes(String(type)) === true) this.#waiting.resolve(answer);
  }

  #end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = new CommandError(EXIT.connection, `the session agent at ${this.#path}: ${reason}`);
    this.#socket.destroy();
    this.#waiting?.reject(this.#ended);
  }
}
