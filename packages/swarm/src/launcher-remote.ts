/**
 * Launch method `remote` of the simulation: each root agent on the simulated host of its host's name, by a
 * remote login program `login HOST DELAY COMMAND…`, which relays standard streams as a real one does. What a start
 * costs can be set: how long a login takes, and how much later an agent's next one begins.
 */

import { accept, defineComponent, launcherprocFramework } from '@stci/core/component';
import type { Channel, Clock, Platform } from '@stci/interface';
import type { AgentContext } from '@stci/platform-sim';

const LOGIN_FAILED = 255;

export const launcherRemote = defineComponent({
  framework: launcherprocFramework,
  name: 'remote',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Agents on simulated hosts, by a simulated remote login.',
  params: {
    login: { type: 'duration', default: 0, min: 0, max: 3_600_000, help: 'How long a login takes.' },
    gap: { type: 'duration', default: 0, min: 0, max: 3_600_000, help: 'Between the starts of one agent.' },
  },
  query: () => accept(1),
  create: ({ platform, inline }, params) => {
    const delay = createDelay(platform.clock, params['login'] as number, params['gap'] as number);
    return {
      name: 'remote',
      start: (start, events) =>
        start.method === 'inline'
          ? inline(start, events)
          : platform.processes.spawnAgent('process', loginCommand(start.host.name, delay(), platform), events),
    };
  },
});

/** Time until a login is over that begins when its starter is free, ms. */
function createDelay(clock: Clock, loginMs: number, gapMs: number): () => number {
  let freeMs = 0;
  return () => {
    const nowMs = clock.nowMs();
    const startMs = Math.max(nowMs, freeMs);
    freeMs = startMs + gapMs;
    return startMs - nowMs + loginMs;
  };
}

function loginCommand(host: string, delayMs: number, { processes }: Platform): readonly string[] {
  return ['login', host, String(delayMs), ...processes.agentCommand];
}

/** The program `login`. */
export function loginMain(context: AgentContext): void {
  const [host = '', delay, ...command] = context.args;
  const delayMs = Number(delay);
  if (delayMs > 0) context.platform.clock.after(delayMs, () => relayLogin(context, host, command));
  else relayLogin(context, host, command);
}

/** Runs `command` on `host`, relays both directions, ends as it ends. */
export function relayLogin(context: AgentContext, host: string, command: readonly string[]): void {
  let status: number | undefined;
  const remote = context.startOn(host, command, {
    onError: (error) => {
      context.diagnostic(error.message);
      context.exit(LOGIN_FAILED);
    },
    onDiagnostic: (line) => context.diagnostic(line),
    onExit: (end) => {
      status = end.status ?? LOGIN_FAILED;
    },
  });
  const leave = (): void => context.exit(status ?? LOGIN_FAILED);
  relay(context.channel, remote.channel, () => {
    // The remote end's last data is sent first.
    context.channel.close();
    context.platform.clock.after(1000, leave);
  }, leave);
}

function relay(near: Channel, far: Channel, onFarClosed: () => void, onNearClosed: () => void): void {
  const pass = (from: Channel, to: Channel, onClose: () => void): void =>
    from.bind({
      onData: (chunk) => {
        if (!to.send([chunk])) from.readable(false);
      },
      onDrain: () => to.readable(true),
      onClose,
    });
  pass(near, far, onNearClosed);
  pass(far, near, onFarClosed);
}
