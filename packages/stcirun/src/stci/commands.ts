/** The commands of `stci` by name, and their help. */

import { didYouMean } from '@stci/core';
import { StciError } from '@stci/interface';
import { AttachCommand } from './attach.js';
import type { StciCommandClass } from './base.js';
import { DoctorCommand } from './doctor.js';
import { AddHostsCommand, RemoveHostsCommand } from './host-commands.js';
import { HOSTS_COMMANDS } from './hosts.js';
import { InfoCommand } from './info.js';
import { MetricsCommand } from './metrics.js';
import { PsCommand, TopCommand } from './ps.js';
import { KillCommand, StartCommand, StopCommand, WaitCommand } from './session-commands.js';
import { TopologyCommand } from './topology.js';
import { VersionCommand } from './version.js';

export const COMMANDS: Readonly<Record<string, StciCommandClass>> = {
  'add-hosts': AddHostsCommand,
  attach: AttachCommand,
  doctor: DoctorCommand,
  ...Object.fromEntries(Object.entries(HOSTS_COMMANDS).map(([verb, command]) => [`hosts ${verb}`, command])),
  info: InfoCommand,
  kill: KillCommand,
  metrics: MetricsCommand,
  ps: PsCommand,
  'remove-hosts': RemoveHostsCommand,
  start: StartCommand,
  stop: StopCommand,
  top: TopCommand,
  topology: TopologyCommand,
  version: VersionCommand,
  wait: WaitCommand,
};

export interface Found {
  readonly name: string;
  readonly command: StciCommandClass;
  /** The words after the command's name. */
  readonly rest: readonly string[];
}

/** The command with the longest name that matches. Throws STCI_USAGE with the nearest one. */
export function findCommand(argv: readonly string[]): Found {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ');
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command !== undefined) return { name, command, rest: argv.slice(words) };
  }
  const names = Object.keys(COMMANDS);
  const tried = names.some((name) => name.startsWith(`${argv[0]} `)) ? argv.slice(0, 2).join(' ') : String(argv[0]);
  const hint = didYouMean(tried, names) || ` The commands are ${names.join(', ')}.`;
  throw new StciError('STCI_USAGE', `Unknown command 'stci ${tried}'.${hint}`);
}

export function overview(): string {
  return `Usage: stci COMMAND [arguments]

Shows components and parameters, checks hosts, works on host lists. Programs are run by stcirun.
${commandRows('')}`;
}

/** Help of the commands that begin with one word, `stci hosts`; undefined for any other word. */
export function groupHelp(word: string | undefined): string | undefined {
  const isGroup = Object.keys(COMMANDS).some((name) => name.startsWith(`${word} `));
  return isGroup ? `Usage: stci ${word} COMMAND [arguments]\n${commandRows(`${word} `)}` : undefined;
}

function commandRows(prefix: string): string {
  const own = Object.entries(COMMANDS).filter(([name]) => name.startsWith(prefix));
  const rows = own.map(([name, command]) => `  ${name.padEnd(18)}${command.summary ?? ''}\n`);
  return `\nCommands:\n${rows.join('')}\n'stci help COMMAND' describes one command.\n`;
}

export function commandHelp({ name, command }: Pick<Found, 'name' | 'command'>): string {
  const { synopsis, details } = command;
  const usage = synopsis === '' ? name : `${name} ${synopsis}`;
  const more = details === '' ? '' : `\n${details.replace(/^\n/u, '')}`;
  return `Usage: stci ${usage}\n\n${command.summary ?? ''}\n${more}`;
}
