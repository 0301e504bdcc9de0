/** Lines of srun's output, with the number of the task that each is of (`--label`). */

import { createDecoder } from './text.js';

/** A longer line is passed on in pieces. */
const CHARS_MAX = 8192;

export interface LabelledLine {
  /** Undefined: srun's own. */
  readonly task?: number;
  readonly text: string;
}

export class LineReader {
  readonly #onLine: (line: LabelledLine) => void;
  readonly #decoder = createDecoder();
  #rest = '';

  constructor(onLine: (line: LabelledLine) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /** No more output follows. */
  end(): void {
    this.#take(this.#decoder.decode());
    if (this.#rest !== '') this.#tell(this.#rest);
    this.#rest = '';
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() as string;
    for (const line of lines) this.#tell(line);
    if (this.#rest.length <= CHARS_MAX) return;
    this.#tell(this.#rest);
    this.#rest = '';
  }

  #tell(line: string): void {
    const [, task, text] = /^ *(\d+): (.*)$/s.exec(line) ?? [];
    const given = (text ?? line).replace(/\r$/, '');
    this.#onLine(task === undefined ? { text: given } : { task: Number(task), text: given });
  }
}
