/**
 * Duration of a login's key exchange, taken from the client's reports of its steps (LogLevel DEBUG1). The default of
 * OpenSSH 9, sntrup761, takes most of a login if its implementation is slow; see docs/ssh.md.
 */

/** Lines of a client that reports its steps. */
export const STEP_LINE = /^debug\d: /;
/** Exchanges to which there is no much cheaper alternative. */
const CHEAP = /^(curve25519-|ecdh-|mlkem768x25519-)/;

export interface KeyExchange {
  readonly algorithm: string;
  readonly ms: number;
  /** Duration of the login, from the client's start. */
  readonly loginMs: number;
}

export class KexTimer {
  readonly #startMs: number;
  #fromMs: number | undefined;
  #toMs: number | undefined;
  #algorithm = '';

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** Returns the exchange once the login has succeeded; undefined before, and if the client did not report it. */
  onLine(line: string, nowMs: number): KeyExchange | undefined {
    if (/^debug1: SSH2_MSG_KEXINIT sent/.test(line)) this.#fromMs ??= nowMs;
    else if (/^debug1: SSH2_MSG_NEWKEYS received/.test(line)) this.#toMs ??= nowMs;
    else this.#algorithm ||= /^debug1: kex: algorithm: (\S+)/.exec(line)?.[1] ?? '';
    if (!line.startsWith('Authenticated to ')) return undefined;
    if (this.#fromMs === undefined || this.#toMs === undefined) return undefined;
    return { algorithm: this.#algorithm, ms: this.#toMs - this.#fromMs, loginMs: nowMs - this.#startMs };
  }
}

/** Advice for an exchange that takes most of a login; undefined if it does not, or there is no alternative. */
export function kexAdvice({ algorithm, ms, loginMs }: KeyExchange): string | undefined {
  if (ms * 2 < loginMs || CHEAP.test(algorithm)) return undefined;
  return `the key exchange (${algorithm}) takes most of the login. A cheaper one: `
    + '--mca launcher.ssh.kex=curve25519-sha256; see docs/ssh.md for the consequences';
}
