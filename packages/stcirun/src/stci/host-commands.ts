/** `stci add-hosts`, `remove-hosts`: hosts that come to a running session and leave it. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { counted, expandHostlist, parseHostfile, type HostOutcome } from '@stci/core';
import { StciError, fromErrorRecord } from '@stci/interface';
import { parseDuration } from '../cli/values.js';
import { printError } from '../process/print.js';
import { allocateHosts, hostPlace, readHostfile } from '../run/allocate-hosts.js';
import { callerDirectory } from '../files/caller-directory.js';
import { call } from '../session/ask.js';
import { commonFlags, repeated } from './base.js';
import { connectTo, openSessions, sessionFlags, StciCommand } from './session-command.js';

const hostFlags = {
  hostfile: Flags.string({
    ...repeated, helpValue: 'FILE', description: 'hosts of a file; of add-hosts with LIST: those of them that it names',
  }),
  quiet: commonFlags.quiet,
  ...sessionFlags,
};

/** Words that are host lists. */
function listsOf(argv: readonly unknown[], hostfiles: readonly string[] | undefined, example: string): string[] {
  const words = argv as readonly string[];
  const option = words.find((word) => /^-./u.test(word));
  if (option !== undefined) throw new StciError('STCI_USAGE', `Unknown option ${option}. See stci help.`);
  if (words.length === 0 && hostfiles === undefined) {
    throw new StciError('STCI_USAGE', `No host is named. Write, for example: stci ${example}`);
  }
  return [...words];
}

/** Tells what became of the hosts; returns the exit code: that of the first failure. */
function report(session: string, outcomes: readonly HostOutcome[], what: string, quiet: boolean | undefined): number {
  const failures = outcomes.flatMap(({ error }) => error ?? []);
  for (const { message } of failures) printError(`stci: ${message}\n`);
  const done = counted(outcomes.length - failures.length, 'host');
  if (quiet !== true) printError(`stci: session ${session}: ${done} ${what}\n`);
  const [first] = failures;
  return first === undefined ? 0 : fromErrorRecord(first).exitCode;
}

export class AddHostsCommand extends StciCommand {
  static override readonly summary = 'more hosts for a session, or lost ones again';
  static override readonly synopsis = 'LIST... [--hostfile FILE]... [--session NAME]';
  static override readonly page = 'sessions.md#hosts-that-come-and-go';
  static override readonly details = `
Waits until each host is up or has failed. Jobs that are submitted later use them, and those
that wait; running jobs do not. The hosts that failed are told with their reasons; the exit
code is then that of the first.

Examples:
  stci add-hosts n[17-32] --session night
  stci add-hosts --hostfile more
`;

  static override strict = false;
  static override args = {
    list: Args.string({ ignoreStdin: true, description: 'hosts and their slots: a:2,b or n[01-16]' }),
  };
  static override flags = hostFlags;

  async run(): Promise<number> {
    const { argv, flags } = await this.parse(AddHostsCommand);
    const sessions = await openSessions(flags);
    const wdir = callerDirectory();
    const host = listsOf(argv, flags.hostfile, 'add-hosts c:2,d');
    const hosts = allocateHosts({ host, hostfile: flags.hostfile }, hostPlace(sessions, sessions.platform, wdir));
    const { facts, client } = await connectTo(sessions, flags.session, '--session');
    const outcomes = await call(client, 'client.add', { hosts });
    client.close();
    return report(facts.name, outcomes, 'added', flags.quiet);
  }
}

const duration = Flags.custom<number>({
  parse: async (text) => parseDuration('--timeout', text),
  helpValue: 'TIME',
  description: 'hosts that still have ranks then stay: 30s, 5m',
});

export class RemoveHostsCommand extends StciCommand {
  static override readonly summary = 'hosts of a session leave it, when their jobs are over';
  static override readonly synopsis = 'LIST... [--hostfile FILE]... [--force] [--timeout TIME] [--session NAME]';
  static override readonly page = 'sessions.md#hosts-that-come-and-go';
  static override readonly details = `
From now on they get no jobs. Waits until they have left. When it is interrupted, they leave
nevertheless; 'stci add-hosts' keeps a host that has not left yet.

Examples:
  stci remove-hosts n07 --session night
  stci remove-hosts n[01-16] --timeout 10m
`;

  static override strict = false;
  static override args = { list: Args.string({ ignoreStdin: true, description: 'hosts: a,b or n[01-16]' }) };
  static override flags = {
    force: Flags.boolean({ description: 'at once: their ranks are ended, and lost to their jobs' }),
    timeout: duration(),
    ...hostFlags,
  };

  async run(): Promise<number> {
    const { argv, flags } = await this.parse(RemoveHostsCommand);
    const wdir = callerDirectory();
    const lists = listsOf(argv, flags.hostfile, 'remove-hosts c,d');
    const named = lists.flatMap((list) => expandHostlist(list, { name: 'LIST' })).map(({ name }) => name);
    const files = (flags.hostfile ?? []).map((name) => readHostfile(wdir, name));
    const filed = files.flatMap(({ name, text }) => parseHostfile(name, text)).map(({ name }) => name);
    const names = [...new Set([...named, ...filed])];
    const { force = false, timeout: timeoutMs } = flags;
    const { facts, client } = await connectTo(await openSessions(flags), flags.session, '--session');
    const outcomes = await call(client, 'client.remove', { names, force, timeoutMs });
    client.close();
    return report(facts.name, outcomes, 'removed', flags.quiet);
  }
}
