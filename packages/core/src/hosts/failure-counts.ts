/** Failures so far of each host, by its name: the same text twice would read as one failure reported twice. */

import { StciError } from '@stci/interface';

export class FailureCounts {
  readonly #counts = new Map<string, number>();

  /** The error, with its number from the second of a host on. */
  numbered(name: string, error: StciError): StciError {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    if (count === 1) return error;
    const [first = '', ...rest] = error.message.split('\n');
    const message = [`${first} (failure ${count})`, ...rest].join('\n');
    const { code, agent, host, rank, data, cause } = error;
    return new StciError(code, message, { agent, host, rank, data: { ...data, failure: count }, cause });
  }
}
