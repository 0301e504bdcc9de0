/** Code that is loaded at its first use, once in a process. */

import { StciError } from '@stci/interface';

type Done<Code> = (code: Code | undefined, error?: StciError) => void;

export class Loadable<Code> {
  readonly #what: string;
  readonly #load: () => Promise<Code>;
  #code: Code | undefined;
  #waiting: Done<Code>[] = [];

  /** `what`: for messages. */
  constructor(what: string, load: () => Promise<Code>) {
    this.#what = what;
    this.#load = load;
  }

  get isLoaded(): boolean {
    return this.#code !== undefined;
  }

  /** Where nothing is to be loaded while the program runs: in a simulation, whose time stands still meanwhile. */
  provide(code: Code): void {
    this.#code = code;
  }

  /** Calls `done` with the code, at once if it is here; or with why it cannot be loaded. */
  use(done: Done<Code>): void {
    if (this.#code !== undefined) return done(this.#code);
    if (this.#waiting.push(done) > 1) return;
    const settle = (error?: StciError): void => {
      const faults: unknown[] = [];
      for (const each of this.#waiting.splice(0)) {
        try {
          each(this.#code, error);
        } catch (fault) {
          faults.push(fault); // The others wait for the same.
        }
      }
      if (faults.length > 0) throw faults[0];
    };
    this.#load().then((code) => {
      this.#code = code;
    }).then(() => settle(), (cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      settle(new StciError('STCI_INTERNAL', `${this.#what} cannot be loaded: ${why}`, { cause }));
    });
  }
}
