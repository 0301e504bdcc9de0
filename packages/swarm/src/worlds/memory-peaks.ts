/** What agents hold at most, and the bounds that their declarations state. */

import type { AgentNode, NodeMemory } from '@stci/core';
import type { Params } from '@stci/interface';
import type { World } from '@stci/platform-sim';

/** Between two looks, while there is something to see, and else. */
const SAMPLE_MS = 50;
const SAMPLE_IDLE_MS = 500;

/** Messages of control that may be under way. */
const CONTROL_BYTES = 128 * 1024;
/** Output of one session agent is acknowledged after so many bytes at the latest. */
const ACK_BYTES = 1024 * 1024;
/** A kept frame counts for at least 256 bytes, and uses at least 64 of the window. */
const CHARGE_FACTOR = 4;
/** Broadcasts kept of one job. */
const BROADCAST_BYTES = 5 * 1024 * 1024;

export class MemoryPeaks {
  /** Of all agents that ever were. */
  readonly #nodes: AgentNode[] = [];
  readonly #peaks = new Map<string, NodeMemory>();

  readonly onNode = (node: AgentNode): void => void this.#nodes.push(node);

  /** Looks again and again, as long as `isOn`. */
  watch(world: World, isBusy: () => boolean, isOn: () => boolean): void {
    for (const { name, memory } of this.#nodes) this.add(name, memory);
    const nextMs = world.nowMs + (isBusy() ? SAMPLE_MS : SAMPLE_IDLE_MS);
    if (isOn()) world.at(nextMs, () => this.watch(world, isBusy, isOn));
  }

  add(name: string, { unacknowledged, broadcasts, early, queued }: NodeMemory): void {
    const before = this.#peaks.get(name);
    this.#peaks.set(name, {
      unacknowledged: Math.max(before?.unacknowledged ?? 0, unacknowledged),
      broadcasts: Math.max(before?.broadcasts ?? 0, broadcasts),
      early: Math.max(before?.early ?? 0, early),
      queued: Math.max(before?.queued ?? 0, queued),
    });
  }

  /** Where more was found than is stated for so many jobs beside each other. */
  problems(params: Params, { hosts, jobs }: { readonly hosts: number; readonly jobs: number }): string[] {
    const problems: string[] = [];
    const window = params.int('iof.window');
    const share = Math.floor(window / hosts);
    const check = (what: string, bytes: number, bound: number): void => {
      if (bytes > bound) problems.push(`${what}: ${bytes} bytes, at most ${bound} are stated`);
    };
    for (const [name, { unacknowledged, broadcasts, early, queued }] of this.#peaks) {
      const ofOutput = name.startsWith('session') ? CHARGE_FACTOR * share + ACK_BYTES : jobs * window;
      const queueMax = Math.min(jobs * window + CONTROL_BYTES, params.int('bootcom.queue.max'));
      check(`${name}, unacknowledged`, unacknowledged, ofOutput + CONTROL_BYTES);
      check(`${name}, broadcasts`, broadcasts, jobs * BROADCAST_BYTES);
      check(`${name}, early frames`, early, jobs * window);
      check(`${name}, queue of a link`, queued, queueMax);
    }
    return problems;
  }
}
