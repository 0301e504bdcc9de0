/**
 * Framework `pmi`, mode many: the protocols in which MPI libraries speak with their launcher. A job offers each that is
 * selected to all of its ranks; a program that speaks none is not concerned.
 */

import { defineFramework, type Channel, type ChannelEvents, type NoDeps, type Rank } from '@stci/interface';
import type { Loadable } from '../service/loadable.js';
import type { PmiHost } from './pmi-host.js';

/** What a rank finds in its environment of a protocol. */
export interface PmiOffer {
  readonly nspace: string;
  readonly rank: Rank;
  readonly size: number;
  readonly hostName: string;
  /** Where the agent listens, on 127.0.0.1; 0: nowhere. */
  readonly port: number;
}

/** Serves connections of ranks of one host. */
export interface PmiServer {
  /** One is there; `rank`: which inherited it; else it says so itself. */
  accept(channel: Channel, rank: Rank | undefined): ChannelEvents;
  /** The first is about to come. */
  prepare(): void;
}

export interface PmiModule {
  /** A rank inherits its connection, or connects to the agent's port. */
  readonly by: 'socket' | 'port';
  variables(offer: PmiOffer): Readonly<Record<string, string>>;
  /** Finds its libraries among the paths of what a process has loaded. */
  readonly library: RegExp;
  readonly code: Loadable<(host: PmiHost) => PmiServer>;
}

export const pmiFramework = defineFramework<PmiModule, NoDeps>({
  name: 'pmi',
  mode: 'many',
  version: 1,
  scope: 'job',
  help: 'Protocols in which MPI libraries speak with stcirun.',
  params: {},
});
