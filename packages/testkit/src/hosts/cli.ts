/**
 * `npm run hosts -- …`: test hosts from the command line. Sets made here are kept until `down`. Exit codes: 0, the
 * program's own for `run` (128 + signal), 2 for a wrong command line, 1 for other failures.
 */

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { attach, listSets, up } from './make.js';
import { HOSTS_MAX, HostsError, checkSetName } from './names.js';
import type { Hosts } from './hosts.js';
import { checkCanMakeHosts, whyNoHosts } from './machine.js';
import { removeLeftovers, removeSet } from './remove.js';
import type { SlurmOptions } from './slurm-options.js';
import { isLeftover, readState, underLock } from './state.js';
import { TRAITS } from './traits.js';

export const USAGE = `Usage: npm run hosts -- COMMAND [--set NAME]
  up N [--with hK=TRAIT,...]...  make hosts h1..hN, N up to ${HOSTS_MAX}
     [--slurm] [--cpus N] [--slurm-conf KEY=VALUE]...
                                 with Slurm, N CPUs (8) a host; lines of slurm.conf
     [--slurm-root DIR]          the Slurm of another Debian's root
  down [--force]                 end and remove them (--force: also those of a running test)
  list                           sets, hosts, their state and what runs on them
  run 'COMMAND'                  run a shell command on the login side, from where ssh h1 works
  on HOST 'COMMAND'              run it on a host, as on its console
  kill HOST   start HOST         end all processes of a host; start it again
  cut HOST    mend HOST          its network, silent and back
  freeze HOST thaw HOST          stop all its processes; let them go on
  slow HOST KBITS | off          bound its network, kilobits per second each way
  log HOST                       what its sshd has written
  slurmctld start|stop|restart|freeze|thaw
                                 the controller of a set with Slurm
  munged start|stop              its authentication
--set NAME is the set meant, "main" without it; several can be up at once.
Traits:
${Object.entries(TRAITS).map(([name, help]) => `  ${name.padEnd(18)}${help}`).join('\n')}
Example: npm run hosts -- up 8 --with h3=no-node --with h4=slow-login:30000,private-home`;

type Operation = (hosts: Hosts, words: readonly string[]) => Promise<void> | void;

/** Command → number of its arguments, its action on a set that is up. */
const OPERATIONS: Readonly<Record<string, readonly [number, Operation]>> = {
  kill: [1, (hosts, [host = '']) => hosts.kill(host)],
  start: [1, (hosts, [host = '']) => hosts.start(host)],
  cut: [1, (hosts, [host = '']) => hosts.cut(host)],
  mend: [1, (hosts, [host = '']) => hosts.mend(host)],
  freeze: [1, (hosts, [host = '']) => hosts.freeze(host)],
  thaw: [1, (hosts, [host = '']) => hosts.thaw(host)],
  slow: [2, (hosts, [host = '', rate]) => hosts.slow(host, rate === 'off' ? undefined : Number(rate))],
  log: [1, (hosts, [host = '']) => void process.stdout.write(hosts.log(host))],
  slurmctld: [1, (hosts, [verb = '']) => choose(verb, {
    start: () => hosts.slurm.startSlurmctld(),
    stop: () => hosts.slurm.stopSlurmctld(),
    restart: () => hosts.slurm.restartSlurmctld(),
    freeze: () => hosts.slurm.freezeSlurmctld(),
    thaw: () => hosts.slurm.thawSlurmctld(),
  })],
  munged: [1, (hosts, [verb = '']) => choose(verb, {
    start: () => hosts.slurm.startMunge(),
    stop: () => hosts.slurm.stopMunge(),
  })],
};

function choose(verb: string, verbs: Readonly<Record<string, () => Promise<void> | void>>): Promise<void> | void {
  const action = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (action === undefined) throw new UsageError(`"${verb}" is none of ${Object.keys(verbs).join(', ')}\n${USAGE}`);
  return action();
}

/** Resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parse(args);
    const [command, ...words] = positionals;
    if (values.help || command === undefined) {
      console.log(USAGE);
      return command === undefined && !values.help ? 2 : 0;
    }
    checkSetName(values.set);
    return await dispatch(command, words, values);
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

class UsageError extends Error {}

type Values = ReturnType<typeof parse>['values'];

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        set: { type: 'string', default: 'main' },
        with: { type: 'string', multiple: true, default: [] },
        'slurm': { type: 'boolean', default: false },
        'slurm-conf': { type: 'string', multiple: true, default: [] },
        'slurm-root': { type: 'string' },
        'cpus': { type: 'string' },
        force: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

async function dispatch(command: string, words: readonly string[], values: Values): Promise<number> {
  const counted = { up: 1, down: 0, list: 0, run: 1, on: 2, ...wordCounts(OPERATIONS) }[command];
  if (counted === undefined) throw new UsageError(`unknown command "${command}"\n${USAGE}`);
  if (words.length !== counted) {
    const got = `got ${words.length} (a command with spaces goes in quotes)`;
    throw new UsageError(`${command} needs ${counted} word${counted === 1 ? '' : 's'} after it, ${got}\n${USAGE}`);
  }
  if (command === 'list') return list();
  checkCanMakeHosts();
  if (command === 'up') return make(words[0] ?? '', values);
  if (command === 'down') return takeDown(values.set, values.force);
  const hosts = attach(values.set);
  if (command === 'run') return interactive(hosts.loginArgv(['sh', '-c', words[0] ?? '']));
  if (command === 'on') return interactive(hosts.hostArgv(words[0] ?? '', ['sh', '-c', words[1] ?? '']));
  await OPERATIONS[command]?.[1](hosts, words);
  return 0;
}

function wordCounts(operations: typeof OPERATIONS): Record<string, number | undefined> {
  return Object.fromEntries(Object.entries(operations).map(([name, [count]]) => [name, count]));
}

async function make(size: string, values: Values): Promise<number> {
  const traits: Record<string, string[]> = {};
  for (const word of values.with) {
    const [host = '', list] = word.split('=');
    if (list === undefined) throw new UsageError(`--with ${word}: write --with h3=no-node\n${USAGE}`);
    traits[host] = [...(traits[host] ?? []), ...list.split(',')];
  }
  const hosts = await up(Number(size), { set: values.set, traits, kept: true, slurm: slurmOf(values) });
  const last = hosts.names.at(-1) ?? '';
  console.log(`h1 to ${last} are up, ${hosts.address('h1')} to ${hosts.address(last)}`);
  const command = values.slurm ? `srun -N${hosts.names.length} hostname` : 'ssh h1 hostname';
  console.log(`try: npm run hosts -- --set ${values.set} run '${command}'`);
  return 0;
}

function slurmOf({ slurm, cpus, 'slurm-conf': conf, 'slurm-root': root }: Values): boolean | SlurmOptions {
  if (slurm) {
    const [count, directory] = [cpus === undefined ? undefined : Number(cpus), root && resolve(root)];
    return { conf, ...(count !== undefined && { cpus: count }), ...(directory && { root: directory }) };
  }
  if (cpus === undefined && root === undefined && conf.length === 0) return false;
  throw new UsageError(`--cpus, --slurm-conf and --slurm-root are of --slurm\n${USAGE}`);
}

async function takeDown(set: string, force: boolean): Promise<number> {
  await underLock(async () => {
    const state = readState(set);
    if (state !== undefined && !state.kept && !isLeftover(state) && !force) {
      throw new HostsError(`the test hosts "${set}" are in use by process ${state.owner.pid}; --force takes them down`);
    }
    await removeSet(set);
    await removeLeftovers();
    console.log(state === undefined ? `no test hosts "${set}" were up` : `the test hosts "${set}" are gone`);
  });
  return 0;
}

/** Under the lock, since sets may be removed meanwhile. */
async function list(): Promise<number> {
  if (listSets().length > 0) await underLock(async () => listAll());
  else console.log('no test hosts are up; npm run hosts -- up 8 makes some');
  return 0;
}

function listAll(): void {
  for (const state of listSets()) {
    const left = isLeftover(state);
    const whose = left ? 'left by a run that is gone' : state.kept ? 'kept' : `of process ${state.owner.pid}`;
    console.log(`${state.set}: ${state.size} hosts, 10.77.${state.subnet}.0/24, ${whose}`);
    if (left || state.phase !== 'up' || whyNoHosts() !== undefined) continue;
    try {
      listHosts(attach(state.set));
    } catch (fault) {
      if (!(fault instanceof HostsError)) throw fault;
      console.log(`  ${fault.message}; npm run hosts -- down --set ${state.set} removes what is left`);
    }
  }
}

function listHosts(hosts: Hosts): void {
  for (const host of hosts.names) {
    const absent = hosts.isAbsent(host);
    const state = absent ? 'absent' : hosts.isUp(host) ? 'up' : 'down';
    const programs = absent ? '' : hosts.leftovers(host).map(({ command }) => command.slice(0, 60)).join('; ');
    console.log([`  ${host}`, hosts.address(host), state, ...hosts.traits(host), programs].join('  ').trimEnd());
  }
}

/** Runs with this terminal, whose signals reach the program directly. */
function interactive([file, ...args]: readonly [string, ...string[]]): Promise<number> {
  const child = spawn(file, args, { stdio: 'inherit' });
  const ignored = (): void => undefined;
  process.on('SIGINT', ignored);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
