/**
 * Launch method `remote` of the simulation: each root agent on the simulated host that bears its host's name, by a
 * remote login program `login HOST COMMAND…`, which relays standard streams as a real one does.
 */

import { accept, defineComponent, launcherprocFramework } from '@stci/core/component';
import type { Channel, Platform } from '@stci/interface';
import type { AgentContext } from '@stci/platform-sim';

const LOGIN_FAILED = 255;

export const launcherRemote = defineComponent({
  framework: launcherprocFramework,
  name: 'remote',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Agents on simulated hosts, by a simulated remote login.',
  params: {},
  query: () => accept(1),
  create: ({ platform, inline }) => ({
    name: 'remote',
    start: (start, events) =>
      start.method === 'inline'
        ? inline(start, events)
        : platform.processes.spawnAgent('process', loginCommand(start.host.name, platform), events),
  }),
});

function loginCommand(host: string, { processes }: Platform): readonly string[] {
  return ['login', host, ...processes.agentCommand];
}

/** The program `login`. */
export function loginMain(context: AgentContext): void {
  const [host = '', ...command] = context.args;
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
    // What the remote end said last leaves first.
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
