/**
 * A process on another host whose standard streams are a connection, as with a remote login; simulated programs such as
 * `ssh` use it. A cut link, or a crashed host, is silent.
 */

import type { AgentProcess, AgentProcessEvents, ProcessEnd } from '@stci/interface';
import { joinChannels, type ChannelEnd } from './channel.js';
import type { SimHost } from './host.js';
import { CallEvent, CODE } from './scheduler.js';
import type { Task } from './task.js';

export function startRemote(
  near: { readonly host: SimHost; readonly task: Task },
  hostName: string,
  command: readonly string[],
  events: AgentProcessEvents,
): AgentProcess {
  const { host, task } = near;
  const { world } = host;
  const { scheduler } = world;
  const far = world.findHost(hostName);
  const main = world.findAgent(command[0] ?? '');
  const link = world.fabric.link(host.name, hostName);
  const soon = (call: () => void): void =>
    scheduler.after(new CallEvent(task, call, CODE.connect), 2 * link.params.latencyMs);
  const init = world.flowInit(link, world.sizes.connectionBytes);
  const end = (label: string, owner: Task): ChannelEnd => ({ kind: 'stdio', label, task: owner });
  const unowned = host.table.newTask(0);
  const pair = joinChannels(init, world.sizes.markBytes, end(hostName, task), end(host.name, unowned));
  if (far === undefined || main === undefined) {
    const what = far === undefined ? `host ${hostName} is unknown` : `${command[0]}: command not found`;
    soon(() => events.onError({ code: 'STCI_PROGRAM_SPAWN', message: `${hostName}: ${what}` }));
    return { pid: 0, channel: pair.left, kill: () => undefined };
  }
  scheduler.after(new CallEvent(undefined, () => {
    if (link.isCut || far.isCrashed || !task.alive) return;
    const onExit = (exit: ProcessEnd): void => {
      if (!link.isCut) events.onExit(exit);
    };
    const watcher = { task, onExit };
    const process = far.table.fork({ parent: undefined, group: 'own', command, env: {}, wdir: '/', watcher });
    pair.right.adopt(process.main);
    pair.left.outgoing.isSilent = () => process.main.isSilent;
    const onDiagnostic = (line: string): void => soon(() => events.onDiagnostic(line));
    far.startAgent(process, process.main, main, { channel: pair.right, args: command.slice(1), onDiagnostic });
  }, CODE.connect), link.params.latencyMs);
  return { pid: 0, channel: pair.left, kill: () => pair.left.destroy('killed') };
}
