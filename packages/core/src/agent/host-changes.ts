/**
 * Hosts that come to a session while it runs, at the controller: new ones, and those again that were lost or had left.
 * Each gets an outcome; one that does not come up changes nothing for the others.
 */

import { StciError, toErrorRecord, type ErrorRecord, type HostIndex, type HostSpec } from '@stci/interface';
import { counted } from '../job/text.js';
import type { Bootstrap } from './bootstrap.js';

/** What became of a host. */
export interface HostOutcome {
  readonly name: string;
  /** Why it did not come up, or was not removed. */
  readonly error?: ErrorRecord;
}

export type HostsChanged = (outcomes: readonly HostOutcome[]) => void;

export interface HostChangesInit {
  readonly bootstrap: Bootstrap;
  /** Throws StciError if a session cannot have so many hosts. */
  checkSize(hosts: number): void;
}

export class HostChanges {
  readonly #init: HostChangesInit;

  constructor(init: HostChangesInit) {
    this.#init = init;
  }

  /** Calls `done` when each of these hosts is up, or has failed. Throws StciError if none was started. */
  add(specs: readonly HostSpec[], done: HostsChanged): void {
    const { bootstrap, checkSize } = this.#init;
    const { table, lateStarts } = bootstrap;
    const known = new Map(bootstrap.hosts.map(({ name }, host) => [name, host]));
    const taken = specs.filter(({ name }) => {
      const host = known.get(name);
      return host !== undefined && (lateStarts.has(host) || !(table.isGone(host) || table.get(host).isDraining));
    });
    if (taken.length > 0) throw takenError(taken.map(({ name }) => name));
    checkSize(table.size + specs.filter(({ name }) => !known.has(name)).length);
    const outcomes: HostOutcome[] = [];
    const settle = (name: string, error: StciError | undefined): void => {
      outcomes.push({ name, ...(error !== undefined && { error: toErrorRecord(error) }) });
      if (outcomes.length === specs.length) done(outcomes);
    };
    for (const spec of specs) {
      const host = known.get(spec.name) ?? bootstrap.addHost(spec);
      if (table.isGone(host)) bootstrap.startHost(host, spec, (error) => settle(spec.name, error));
      else this.#keep(host, spec.name, settle);
    }
  }

  /** It was to leave, and stays. */
  #keep(host: HostIndex, name: string, settle: (name: string, error: StciError | undefined) => void): void {
    this.#init.bootstrap.table.drain(host, false);
    settle(name, undefined);
  }
}

function takenError(names: readonly string[]): StciError {
  const [first = ''] = names;
  const [what, more] = names.length === 1 ? ['is', ''] : ['are', `, and ${counted(names.length - 1, 'more host')},`];
  return new StciError('STCI_HOSTLIST_INVALID', `Host ${first}${more} ${what} in the session already.`);
}
