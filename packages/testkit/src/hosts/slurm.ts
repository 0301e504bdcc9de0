/**
 * Slurm on a set of test hosts: munged and slurmctld on the login side, a slurmd on every host, started with it. One
 * munged serves all, since its socket is found by path.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@stci/compliance/deadline';
import { tail } from './exec.js';
import type { Argv, RunOptions, RunResult } from './exec.js';
import { HostsError, LOGIN, netnsPath, placesOf } from './names.js';
import { netnsInode, processesIn, signal, startTicks } from './procs.js';
import type { Process } from './procs.js';
import { CLOSE_INHERITED } from './scripts.js';
import { slurmPlaces } from './slurm-files.js';
import type { SlurmPlaces } from './slurm-files.js';

const OPERATION_DEADLINE_MS = 20_000;

type Daemon = 'slurmctld' | 'munged';

/** Runs a program on the login side. */
type Run = (argv: Argv, options?: RunOptions) => Promise<RunResult>;

export class Slurm {
  readonly #set: string;
  readonly #places: SlurmPlaces;
  readonly #run: Run;

  constructor(set: string, run: Run) {
    this.#set = set;
    this.#places = slurmPlaces(placesOf(set));
    this.#run = run;
  }

  async startMunge(): Promise<void> {
    const { root, mungeKey, mungeSocket, log } = this.#places;
    const files = [`--key-file=${mungeKey}`, `--socket=${mungeSocket}`, `--log-file=${log('munged')}`,
      `--pid-file=${root}/munge/pid`, `--seed-file=${root}/munge/seed`];
    await this.#start('munged', ['--force', ...files]);
  }

  /** Slurm's programs then have no credentials: each of them fails. */
  async stopMunge(): Promise<void> {
    await this.#stop('munged');
  }

  async startSlurmctld(): Promise<void> {
    await this.#start('slurmctld', []);
  }

  /** Slurmctld saves its state first, unless it is killed; steps go on meanwhile. */
  async stopSlurmctld(by: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.#stop('slurmctld', by);
  }

  async restartSlurmctld(by: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.stopSlurmctld(by);
    await this.startSlurmctld();
  }

  /** Slurmctld accepts connections, but does not answer. */
  freezeSlurmctld(): void {
    for (const { pid } of this.#find('slurmctld')) signal(pid, 'SIGSTOP');
  }

  thawSlurmctld(): void {
    for (const { pid } of this.#find('slurmctld')) signal(pid, 'SIGCONT');
  }

  /** Host → its state in sinfo's words: `idle`, `mixed`, `down*`. */
  async nodes(): Promise<ReadonlyMap<string, string>> {
    const { code, stdout, stderr } = await this.#run(['sinfo', '--noheader', '--Node', '--format=%N %T']);
    if (code !== 0) throw new HostsError(`sinfo ended with ${code}: ${tail(stderr)}`);
    return new Map(stdout.trim().split('\n').map((line) => line.split(' ') as [string, string]));
  }

  /** Waits until Slurm has all these hosts in this state. */
  async untilNodes(hosts: readonly string[], state: string, deadlineMs = OPERATION_DEADLINE_MS): Promise<void> {
    let others = '';
    await eventually(async () => {
      const nodes = await this.nodes();
      const wrong = hosts.filter((host) => nodes.get(host) !== state);
      others = wrong.map((host) => `${host} ${nodes.get(host) ?? 'unknown'}`).join(', ');
      return wrong.length === 0;
    }, { deadlineMs, everyMs: 50, what: `${state} hosts` }).catch(() => {
      const words = others === '' ? this.log('slurmctld') : others;
      throw new HostsError(`Slurm has not all hosts ${state} within ${deadlineMs} ms: ${words}`);
    });
  }

  /** The last lines of a daemon's log; of slurmd on a host with the host's name. */
  log(place: string): string {
    const daemon = place === 'slurmctld' || place === 'munged';
    const path = daemon ? this.#places.log(place) : join(placesOf(this.#set).of(place), 'slurmd.log');
    try {
      return tail(readFileSync(path, 'utf8'));
    } catch {
      return '';
    }
  }

  async #start(daemon: Daemon, args: readonly string[]): Promise<void> {
    if (this.#find(daemon).length > 0) throw new HostsError(`${daemon} runs; stop it before it is started again`);
    const { code, stdout, stderr } = await this.#run(asDaemon([`/usr/sbin/${daemon}`, ...args]));
    if (code === 0) return;
    throw new HostsError(`${daemon} ended with ${code}: ${tail(`${stdout}${stderr}\n${this.log(daemon)}`)}`);
  }

  async #stop(daemon: Daemon, by: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    for (const { pid } of this.#find(daemon)) signal(pid, by);
    const ended = (): boolean => this.#find(daemon).length === 0;
    await eventually(ended, { deadlineMs: OPERATION_DEADLINE_MS, what: `the end of ${daemon}` });
  }

  #find(daemon: Daemon): Process[] {
    const all = processesIn(netnsInode(netnsPath(this.#set, LOGIN)));
    return all.filter(({ pid, command }) => daemonOf(command) === daemon && startTicks(pid) !== undefined);
  }
}

/** Which of Slurm's daemons a command line is of; slurmctld has a second process, `slurmctld: slurmscriptd`. */
export function daemonOf(command: string): string | undefined {
  return /^(?:\/\S*\/)?(slurmctld|munged|slurmd|slurmstepd)(?:[: ]|$)/.exec(command)?.[1];
}

function asDaemon(argv: Argv): Argv {
  return ['bash', '-c', `${CLOSE_INHERITED}exec "$@"`, 'stci-hosts', ...argv];
}
