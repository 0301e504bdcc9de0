/**
 * Looks at the hosts of a repeat for processes that it left, after its end: so many hosts at a time, each with a
 * deadline, all of them with another. How one host is looked at is the driver's part. A host that gives no answer is
 * not known, and tells why; what one host answers says nothing of the others, and takes no room from them.
 */

import { printable, type Clock } from '@stci/interface';
import type { LeftProcess, UnknownHost } from '../history/contracts.js';
import type { LeftBehind } from './contracts.js';
import { Timers } from './timers.js';

/** Hosts that are looked at together: a login costs a tenth of a second of this machine's processor. */
const HOSTS_MAX = 32;
/** Hosts that could not be looked at in this time, beside the time that one waits for an end, are not known. */
const ALL_MS = 60_000;
/** A look gets this long in any case, beside that time. */
const LOOK_MS = 15_000;
/** Less than this is not enough for a login. */
const LOOK_MS_MIN = 1000;
/** A driver that keeps the deadline answers within this time after it. */
const SLACK_MS = 1000;
/** Processes that are named: of one host, and of all. */
const NAMED_OF_HOST = 3;
const NAMED_MAX = 60;
const REASON_CHARS = 300;
const COMMAND_CHARS = 80;

/** What is left on a host. */
export interface HostLook {
  readonly count: number;
  /** Some of them. */
  readonly processes: readonly Pick<LeftProcess, 'pid' | 'command'>[];
}

export interface HostSearchInit {
  readonly clock: Clock;
  /** Different names. */
  readonly hosts: readonly string[];
  /** How long a host waits until those are gone that end just now; counted from the search's begin. */
  readonly waitMs: number;
  /** Calls back within `deadlineMs`: with a text, why the host could not be looked at. */
  look(host: string, waitMs: number, deadlineMs: number, done: (found: HostLook | string) => void): void;
}

export function searchHosts(init: HostSearchInit, done: (found: LeftBehind) => void): void {
  new HostSearch(init, done).start();
}

class HostSearch {
  readonly #init: HostSearchInit;
  readonly #done: (found: LeftBehind) => void;
  readonly #timers: Timers;
  readonly #sinceMs: number;
  readonly #left: LeftProcess[] = [];
  readonly #unknown: UnknownHost[] = [];
  #orphans = 0;
  #next = 0;
  #pending = 0;
  #isStarting = false;

  constructor(init: HostSearchInit, done: (found: LeftBehind) => void) {
    this.#init = init;
    this.#done = done;
    this.#timers = new Timers(init.clock);
    this.#sinceMs = init.clock.nowMs();
  }

  /** An answer may come before `look` returns: what follows it is then left to the loop. */
  start(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    const { hosts } = this.#init;
    while (this.#pending < HOSTS_MAX && this.#next < hosts.length) this.#look(hosts[this.#next++] as string);
    this.#isStarting = false;
    if (this.#pending > 0) return;
    const order = new Map(hosts.map((host, at) => [host, at]));
    const inOrder = <T extends { readonly host: string }>(list: readonly T[]): T[] =>
      [...list].sort((a, b) => (order.get(a.host) as number) - (order.get(b.host) as number));
    this.#done({
      orphans: this.#orphans, left: inOrder(this.#left).slice(0, NAMED_MAX), unknown: inOrder(this.#unknown),
    });
  }

  #look(host: string): void {
    const { clock, waitMs, look } = this.#init;
    const tookMs = clock.nowMs() - this.#sinceMs;
    const restMs = waitMs + ALL_MS - tookMs;
    if (restMs < LOOK_MS_MIN) return this.#onUnknown(host, `it was not looked at within ${(waitMs + ALL_MS) / 1000} s`);
    const stillMs = Math.max(0, waitMs - tookMs);
    const deadlineMs = Math.min(stillMs + LOOK_MS, restMs);
    this.#pending += 1;
    this.#timers.within(deadlineMs + SLACK_MS,
      (answer: (found: HostLook | string) => void) => look(host, stillMs, deadlineMs, answer),
      (found) => this.#onFound(host, found),
      () => this.#onFound(host, `no answer within ${Math.round(deadlineMs)} ms`));
  }

  #onFound(host: string, found: HostLook | string): void {
    this.#pending -= 1;
    if (typeof found === 'string') this.#onUnknown(host, found);
    else {
      this.#orphans += found.count;
      const named = found.processes.slice(0, NAMED_OF_HOST);
      this.#left.push(...named.map(({ pid, command }) => ({ host, pid, command: oneLine(command, COMMAND_CHARS) })));
    }
    this.start();
  }

  #onUnknown(host: string, reason: string): void {
    this.#unknown.push({ host, reason: oneLine(reason, REASON_CHARS) });
  }
}

/** Text of another machine, as one line that a terminal prints as it is. */
function oneLine(text: string, charsMax: number): string {
  return printable(text.slice(0, 4 * charsMax).replaceAll(/\s+/gu, ' ').trim()).slice(0, charsMax);
}
