/** `stci start`, `stop`, `kill`, `wait`: sessions and their jobs from outside. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { counted, cut, didYouMean, signalNamed } from '@stci/core';
import type { JobStatus } from '@stci/core/session';
import { StciError, printable, type Platform, type SignalName } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import { HOSTS_OF_SLURM, sallocArguments } from '../alloc/salloc-options.js';
import { mcaOf } from '../cli/param-options.js';
import { allocValue, parseAlloc, parseCount, parseNodes, type NodesRequest } from '../cli/values.js';
import { printError, printStarted } from '../process/print.js';
import { allocateHosts, hostPlace, type HostOptions } from '../run/allocate-hosts.js';
import { callerDirectory, resolveFrom } from '../files/caller-directory.js';
import { chooseNodes } from '../run/spec.js';
import { ask, askStatus, call } from '../session/ask.js';
import { isRunning } from '../session/process-identity.js';
import { checkSessionName, jobName } from '../session/session-name.js';
import { removeSession, type FoundSession } from '../session/session-place.js';
import { commonFlags, paramFlags, repeated } from './base.js';
import {
  connectToJob, JOB_ARGUMENT, jobArgument, openSessions, SESSION_ARGUMENT, sessionFlags, StciCommand, type Sessions,
} from './session-command.js';

const count = Flags.custom<number>({
  parse: async (text) => parseCount('--spares', text),
  helpValue: 'N',
  description: 'keep the last N hosts as spares, for others that do not come up or are lost',
});

const nodes = Flags.custom<NodesRequest>({
  parse: async (text) => parseNodes(text),
  char: 'N',
  helpValue: 'N',
  description: 'use the first N of the hosts, spares besides',
});

const alloc = Flags.custom<readonly string[], { implied: string }>({
  parse: async (text) => parseAlloc('--alloc', text),
});

export class StartCommand extends StciCommand {
  static override readonly summary = 'starts a session: agents on hosts that stay, for stcirun --session';
  static override readonly synopsis = '[--host LIST]... [--hostfile FILE]... [--name NAME] [--spares N]';
  static override readonly page = 'sessions.md#starting-and-stopping';
  static override readonly details = `
Prints the session's name when its hosts are up. It stays until 'stci stop'.

Examples:
  stci start --hostfile hosts --name night
  stci start --hostfile hosts --mca errmgr.loss=start-again
  stci start --alloc='-N 4 --time=60' --name night
  STCI_SESSION=night stcirun -n 64 ./a
  stci stop night
`;

  static override flags = {
    host: commonFlags.host,
    hostfile: commonFlags.hostfile,
    exclude: commonFlags.exclude,
    alloc: alloc({
      ...repeated, helpValue: 'OPTIONS', implied: '',
      description: 'ask Slurm for hosts, and give them back at the end of the session; with options of salloc: '
        + "--alloc='-N 4 -p debug' (docs/slurm.md)",
    }),
    spares: count(),
    nodes: nodes(),
    name: Flags.string({ helpValue: 'NAME', description: 'of the session; default s1, s2, ...' }),
    launcher: Flags.string({
      helpValue: 'NAME', description: 'how agents are started; short for --mca launcherproc=NAME',
    }),
    overlay: Flags.string({
      helpValue: 'TOPOLOGY',
      description: 'link the agents beside the tree, too: bmg, mesh:wrap=true (docs/overlay.md); short for --mca '
        + 'overlay.topology=TOPOLOGY',
    }),
    ...paramFlags,
    plugin: commonFlags.plugin,
    events: Flags.string({
      helpValue: 'FILE', description: 'what happens to its hosts and ranks as JSON lines (docs/failures.md)',
    }),
    quiet: commonFlags.quiet,
  };

  async run(): Promise<number> {
    const argv = this.argv.map((word) => word.replace(/^--alloc(?:=|$)/u, `--alloc=${allocValue('')}`));
    const { flags } = await this.parse(StartCommand, argv);
    const mca = mcaOf(flags);
    const sessions = await openSessions({ mca, am: flags.am });
    const { place } = sessions;
    const wdir = callerDirectory();
    const name = flags.name === undefined ? place.freeName() : checkSessionName(flags.name, '--name');
    place.checkFree(name);
    const { nodes, spares = 0 } = flags;
    const start = async (platform: Platform, allocation?: HeldAllocation): Promise<number> => {
      const all = allocateHosts(flags, hostPlace(sessions, platform, wdir));
      const instruction = {
        ...chooseNodes(all, { spares, ...(nodes !== undefined && { nodes }) }),
        name,
        wdir,
        mca,
        am: (flags.am ?? []).map((file) => resolveFrom(wdir, file, '--am')),
        ...(flags.events !== undefined && { events: resolveFrom(wdir, flags.events, '--events') }),
        isForOneJob: false,
      };
      const onStep = (text: string): unknown => flags.quiet || printError(`stci: ${text}\n`);
      const { startSession } = await import('../session/start-session.js');
      return startSession({ place, programs: this.config.root, instruction, onStep, until: 'ready', allocation });
    };
    const { platform } = sessions;
    const up = flags.alloc === undefined ? await start(platform)
      : await startInAllocation({ ...flags, alloc: flags.alloc.flat(), spares }, name, platform, start);
    if (!flags.quiet) printError(`stci: session ${name}: ${counted(up, 'host')} up\n`);
    printStarted('stci', 'session', name);
    return 0;
  }
}

interface AllocFlags extends HostOptions {
  readonly alloc: readonly string[];
  readonly launcher?: string | undefined;
  readonly nodes?: NodesRequest | undefined;
  readonly spares: number;
  readonly quiet: boolean;
}

async function startInAllocation(
  { nodes, spares, ...flags }: AllocFlags,
  name: string,
  { env: { variables } }: Platform,
  start: (platform: Platform, allocation: HeldAllocation) => Promise<number>,
): Promise<number> {
  const named = HOSTS_OF_SLURM.find(([option]) => flags[option] !== undefined);
  if (named !== undefined) {
    throw new StciError('STCI_USAGE', `--alloc and --${named[0]} cannot be combined: ${named[1]}.`);
  }
  if (flags.launcher === 'local') {
    throw new StciError('STCI_USAGE', '--alloc and --launcher local cannot be combined: all agents would run here.');
  }
  const { inAllocation } = await import('../run/in-allocation.js');
  const { requestAllocation } = await import('../alloc/request-allocation.js');
  const onWords = (text: string): unknown => flags.quiet || printError(`stci: Slurm: ${text}\n`);
  const args = sallocArguments(flags.alloc, { name, nodes: nodes && nodes.count + spares }, variables);
  return inAllocation({ command: 'stci', quiet: flags.quiet },
    (waiting) => requestAllocation({ ...waiting, args, variables, onWords }),
    (allocation) => start(createNodePlatform({ variables: { ...variables, ...allocation.variables } }), allocation));
}

const STOP_MS = 60_000;
/** Time from which on it is told what is awaited. */
const SAY_MS = 5_000;
/** What is told of the jobs is not worth a longer wait. */
const STATUS_MS = 2_000;
/** Jobs that are named, and their programs. */
const [NAMED_MAX, LABEL_CHARS] = [8, 40];
const PERIOD_MS = 50;

export class StopCommand extends StciCommand {
  static override readonly summary = 'ends a session: its jobs (TERM, then KILL), its agents, itself';
  static override readonly synopsis = '[SESSION]';
  static override readonly page = 'sessions.md#starting-and-stopping';
  static override readonly details = `
Without a name: the session of STCI_SESSION, else the only one. Names the jobs that it ends, and
waits until the session has ended.
`;

  static override args = { session: Args.string({ ignoreStdin: true, description: SESSION_ARGUMENT }) };
  static override flags = { ...paramFlags, quiet: commonFlags.quiet };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(StopCommand);
    const sessions = await openSessions(flags);
    const { place, platform } = sessions;
    const variable = platform.env.variables['STCI_SESSION'];
    const { findSession } = await import('../session/connect.js');
    const facts = findSession(place, args.session, { variable });
    const jobs = flags.quiet ? [] : await runningJobs(sessions, facts);
    if (jobs.length > 0) printError(`stci: session ${facts.name}: ending ${jobsText(facts.name, jobs)}\n`);
    // A signal, which any version understands.
    process.kill(facts.process.pid, 'SIGTERM');
    const say = setTimeout(() => flags.quiet || printError(`stci: session ${facts.name}: waiting up to `
      + `${STOP_MS / 1000} s for the end of its process, ${facts.process.pid}; if that is stopped: `
      + `kill -CONT ${facts.process.pid}\n`), SAY_MS);
    const deadlineMs = performance.now() + STOP_MS;
    while (isRunning(facts.process) && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
    clearTimeout(say);
    if (isRunning(facts.process)) {
      throw new StciError('STCI_SESSION_REFUSED', `Session ${facts.name} has not ended within ${STOP_MS / 1000} s. `
        + `Its process is ${facts.process.pid}, its log ${facts.directory}/log.`);
    }
    removeSession(facts);
    return 0;
  }
}

/** Jobs that have not ended; none if the session does not say so soon. */
async function runningJobs(sessions: Sessions, facts: FoundSession): Promise<readonly JobStatus[]> {
  const { connectSession } = await import('../session/connect.js');
  try {
    const client = connectSession(sessions.place, facts, sessions);
    const { jobs } = await askStatus(client, STATUS_MS);
    client.close();
    return jobs.filter(({ state }) => state !== 'ended');
  } catch (thrown) {
    if (thrown instanceof StciError) return [];
    throw thrown;
  }
}

function jobsText(session: string, jobs: readonly JobStatus[]): string {
  const names = jobs.slice(0, NAMED_MAX).map(({ job, label }) => {
    const program = cut(printable(label).replaceAll('\n', ' '), LABEL_CHARS);
    return job === 0 ? program : `${jobName(session, job)} (${program})`;
  });
  const more = jobs.length > names.length ? ` and ${jobs.length - names.length} more` : '';
  return `${counted(jobs.length, 'job')}: ${names.join(', ')}${more}`;
}

export class KillCommand extends StciCommand {
  static override readonly summary = 'ends a job of a session, or sends it a signal';
  static override readonly synopsis = 'JOB [--signal NAME] [--session NAME]';
  static override readonly page = 'sessions.md#jobs';
  static override readonly details = `
Without --signal: TERM to all ranks, KILL to those left after tool.grace.

Examples:
  stci kill night.3
  stci kill 3 --signal USR1
`;

  static override args = { job: Args.string({ ignoreStdin: true, description: JOB_ARGUMENT }) };
  static override flags = {
    signal: Flags.string({
      helpValue: 'NAME',
      description: 'or its number; KILL ends it at once; others than TERM and KILL are passed to its ranks',
    }),
    ...sessionFlags,
  };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(KillCommand);
    const name = jobArgument(args.job, 'stci kill');
    const signal = flags.signal === undefined ? undefined : parseSignal(flags.signal);
    const { client, job } = await connectToJob(await openSessions(flags), name, flags.session);
    await ask(client, 'client.signal', { job, signal });
    client.close();
    return 0;
  }
}

const SIGNALS = ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGSTOP', 'SIGCONT', 'SIGQUIT'];

function parseSignal(text: string): SignalName {
  const name = signalNamed(text);
  if (name !== undefined) return name;
  const hint = didYouMean(`SIG${text.toUpperCase().replace(/^SIG/u, '')}`, SIGNALS);
  throw new StciError('STCI_USAGE',
    `--signal: unknown signal '${text}'.${hint} Write TERM, or a number up to 31.`);
}

export class WaitCommand extends StciCommand {
  static override readonly summary = 'waits for the end of a job, and ends with its exit code';
  static override readonly synopsis = 'JOB [--session NAME]';
  static override readonly page = 'sessions.md#jobs';
  static override readonly details = `
Its output is left to 'stci attach'.

Example:
  job=$(stcirun --session night --detach -n 64 ./a); stci wait "$job"; echo $?
`;

  static override args = { job: Args.string({ ignoreStdin: true, description: JOB_ARGUMENT }) };
  static override flags = sessionFlags;

  async run(): Promise<number> {
    const { args, flags } = await this.parse(WaitCommand);
    const name = jobArgument(args.job, 'stci wait');
    const { client, job } = await connectToJob(await openSessions(flags), name, flags.session);
    const { exitCode, cause } = await call(client, 'client.wait', { job });
    client.close();
    if (cause !== undefined) printError(`stci: ${cause.message}\n`);
    return exitCode;
  }
}
