/**
 * Clocks of hosts against the controller's (Cristian's method): of some round trips the shortest counts, in which the
 * host read its clock between the sending and the arrival of the answer. Hosts that do not answer keep the others
 * waiting for a short time only, and the measurement ends at its deadline with what it has.
 */

import { rootAddress, type ClockOffset, type HostIndex } from '@stci/interface';
import type { AgentNode } from '../node/node.js';

/** Round trips to each host. */
const SAMPLES = 8;
/** Hosts that are asked at the same time: more would measure their own queue. */
const HOSTS_AT_ONCE = 16;
/** The next host is asked when one has not answered for so long; its answer still counts. */
const TURN_MS = 200;
/** Whoever takes longer is left out. */
const ANSWER_MS = 2000;
/** Of all hosts: less than front-ends wait. */
const TOTAL_MS = 10_000;
/** Wall clocks tick in whole ms; two are read. */
const TICK_MS = 1;

type Best = Pick<ClockOffset, 'offsetMs' | 'errorMs' | 'samples'>;

/** Of those that answered, in the order of `hosts`. */
export function measureClocks(
  node: AgentNode,
  hosts: readonly { readonly host: HostIndex; readonly name: string }[],
  done: (clocks: readonly ClockOffset[]) => void,
): void {
  const { clock } = node.platform;
  const found = new Map<HostIndex, Best>();
  const waiting = [...hosts];
  let left = hosts.length;
  let isOver = false;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    deadline.cancel();
    done(hosts.flatMap((one) => {
      const best = found.get(one.host);
      return best === undefined ? [] : [{ ...one, ...best }];
    }));
  };
  const deadline = clock.after(TOTAL_MS, finish);
  const next = (): void => {
    const one = isOver ? undefined : waiting.shift();
    if (one === undefined) return;
    let hasTurn = true;
    const pass = (): void => {
      if (!hasTurn) return;
      hasTurn = false;
      next();
    };
    const turn = clock.after(TURN_MS, pass);
    measure(node, one.host, (best) => void found.set(one.host, best), () => {
      turn.cancel();
      left -= 1;
      if (left === 0) finish();
      else pass();
    });
  };
  if (left === 0) return finish();
  for (let i = 0; i < HOSTS_AT_ONCE; i++) next();
}

function measure(node: AgentNode, host: HostIndex, onBest: (best: Best) => void, done: () => void): void {
  const { clock } = node.platform;
  let best: Best | undefined;
  let samples = 0;
  const ask = (): void => {
    const sentMs = clock.nowMs();
    const sentWallMs = clock.wallMs();
    node.messages.request(rootAddress(host), 'agent.clock', {}, (error, reply) => {
      if (error !== undefined) return done();
      samples += 1;
      const { wallMs } = reply as { wallMs: number };
      const halfMs = (clock.nowMs() - sentMs) / 2;
      const errorMs = halfMs + TICK_MS;
      const offsetMs = wallMs - sentWallMs - halfMs;
      best = best !== undefined && best.errorMs <= errorMs ? { ...best, samples } : { offsetMs, errorMs, samples };
      onBest(best);
      if (samples < SAMPLES) ask();
      else done();
    }, { timeoutMs: ANSWER_MS });
  };
  ask();
}

/** Body of the answer. */
export function readClock({ platform: { clock } }: AgentNode): { wallMs: number; nowMs: number } {
  return { wallMs: clock.wallMs(), nowMs: clock.nowMs() };
}
