/** The commands of `stci` by name. */

import { AttachCommand } from './attach.js';
import type { StciCommandClass } from './base.js';
import { CommandTable } from './command-table.js';
import { CompletionCommand } from './completion.js';
import { DoctorCommand } from './doctor.js';
import { AddHostsCommand, RemoveHostsCommand } from './host-commands.js';
import { HOSTS_COMMANDS } from './hosts.js';
import { InfoCommand } from './info.js';
import { MetricsCommand } from './metrics.js';
import { MpiShimBuildCommand } from './mpi-shim.js';
import { PluginCheckCommand } from './plugin-check.js';
import { PluginListCommand } from './plugin-list.js';
import { PluginNewCommand } from './plugin-new.js';
import { PsCommand } from './ps.js';
import { KillCommand, StartCommand, StopCommand, WaitCommand } from './session-commands.js';
import { TopCommand } from './top.js';
import { TopologyCommand } from './topology.js';
import { VersionCommand } from './version.js';

const COMMANDS: Readonly<Record<string, StciCommandClass>> = {
  'add-hosts': AddHostsCommand,
  attach: AttachCommand,
  completion: CompletionCommand,
  doctor: DoctorCommand,
  ...Object.fromEntries(Object.entries(HOSTS_COMMANDS).map(([verb, command]) => [`hosts ${verb}`, command])),
  info: InfoCommand,
  kill: KillCommand,
  metrics: MetricsCommand,
  'mpi-shim build': MpiShimBuildCommand,
  'plugin check': PluginCheckCommand,
  'plugin list': PluginListCommand,
  'plugin new': PluginNewCommand,
  ps: PsCommand,
  'remove-hosts': RemoveHostsCommand,
  start: StartCommand,
  stop: StopCommand,
  top: TopCommand,
  topology: TopologyCommand,
  version: VersionCommand,
  wait: WaitCommand,
};

export const STCI = new CommandTable({
  bin: 'stci',
  about: 'Shows components and parameters, checks hosts, works on host lists. Programs are run by stcirun.',
  commands: COMMANDS,
});
