/** Options of a world: seed, times, sizes. Every time is virtual, in ms. */

import type { LinkParams } from './link.js';

export interface WorldTimes {
  /** From fork to the program's first step: minimum and maximum. */
  readonly spawnMs: readonly [number, number];
  readonly signalMs: number;
  /** From a process's end to its parent's notification: minimum and maximum. */
  readonly exitNoticeMs: readonly [number, number];
  /** From an agent's death to the end of its guarded groups: minimum and maximum. */
  readonly guardianMs: readonly [number, number];
}

export interface WorldSizes {
  /** Buffer of a pipe. */
  readonly pipeBytes: number;
  /** Buffers of a connection, both ends together. */
  readonly connectionBytes: number;
  /** Queue length above which a channel's `send` returns false. */
  readonly markBytes: number;
  /** Largest number of processes in a host's table. */
  readonly processesMax: number;
}

export interface WorldOptions {
  readonly seed: number | string;
  readonly times?: Partial<WorldTimes>;
  readonly sizes?: Partial<WorldSizes>;
  /** Between two hosts, unless set otherwise. */
  readonly link?: Partial<LinkParams>;
  /** Within a host: pipes and loopback connections. */
  readonly local?: Partial<LinkParams>;
  /** Wall clock of all hosts at virtual time 0, ms since the epoch. */
  readonly wallStartMs?: number;
}

export const TIMES: WorldTimes = {
  spawnMs: [0.4, 1.2],
  signalMs: 0.05,
  exitNoticeMs: [0.05, 0.3],
  guardianMs: [0.5, 5],
};

export const SIZES: WorldSizes = {
  pipeBytes: 65_536,
  connectionBytes: 262_144,
  markBytes: 65_536,
  processesMax: 100_000,
};

export const LINK: LinkParams = {
  latencyMs: 0.1,
  jitterMs: 0.05,
  bytesPerMs: Infinity,
  cutChance: 0.05,
  timeoutMs: 60_000,
};

export const LOCAL_LINK: LinkParams = { ...LINK, latencyMs: 0.02, jitterMs: 0.01 };

/** 1 January 2026, 00:00 UTC. */
export const WALL_START_MS = 1_767_225_600_000;

/** Set in the environment of guarded tools, as on a real platform. */
export const GUARD_VARIABLE = 'STCI_GUARD';
