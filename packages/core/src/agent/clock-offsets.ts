/**
 * Clocks of hosts against the controller's (Cristian's method): of some round trips the shortest counts, in which the
 * host read its clock between the sending and the arrival of the answer.
 */

import { rootAddress, type ClockOffset, type HostIndex } from '@stci/interface';
import type { AgentNode } from './node.js';

/** Round trips to each host. */
const SAMPLES = 8;
/** Hosts that are asked at the same time: more would measure their own queue. */
const HOSTS_AT_ONCE = 16;
/** Whoever takes longer is left out. */
const ANSWER_MS = 2000;
/** Wall clocks tick in whole ms; two are read. */
const TICK_MS = 1;

/** Of those that answered, in the order of `hosts`. */
export function measureClocks(
  node: AgentNode,
  hosts: readonly { readonly host: HostIndex; readonly name: string }[],
  done: (clocks: readonly ClockOffset[]) => void,
): void {
  const found: ClockOffset[] = [];
  const waiting = [...hosts];
  let running = 0;
  const next = (): void => {
    const one = waiting.shift();
    if (one === undefined) {
      if (running === 0) done(found.sort((a, b) => a.host - b.host));
      return;
    }
    running += 1;
    measure(node, one.host, (best) => {
      running -= 1;
      if (best !== undefined) found.push({ ...one, ...best });
      next();
    });
  };
  for (let i = 0; i < Math.max(1, Math.min(HOSTS_AT_ONCE, hosts.length)); i++) next();
}

type Best = Pick<ClockOffset, 'offsetMs' | 'errorMs' | 'samples'>;

function measure(node: AgentNode, host: HostIndex, done: (best: Best | undefined) => void): void {
  const { clock } = node.platform;
  let best: Best | undefined;
  let samples = 0;
  const ask = (): void => {
    const sentMs = clock.nowMs();
    const sentWallMs = clock.wallMs();
    node.messages.request(rootAddress(host), 'agent.clock', {}, (error, reply) => {
      if (error !== undefined) return done(best);
      samples += 1;
      const { wallMs } = reply as { wallMs: number };
      const halfMs = (clock.nowMs() - sentMs) / 2;
      const errorMs = halfMs + TICK_MS;
      const offsetMs = wallMs - sentWallMs - halfMs;
      if (best === undefined || errorMs < best.errorMs) best = { offsetMs, errorMs, samples };
      best = { ...best, samples };
      if (samples < SAMPLES) ask();
      else done(best);
    }, { timeoutMs: ANSWER_MS });
  };
  ask();
}

/** Body of the answer. */
export function readClock({ platform: { clock } }: AgentNode): { wallMs: number; nowMs: number } {
  return { wallMs: clock.wallMs(), nowMs: clock.nowMs() };
}
