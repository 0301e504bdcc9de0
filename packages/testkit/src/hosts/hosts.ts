/**
 * A set of test hosts that is up: run programs on its login side or on a host, break and repair hosts, list the
 * processes left on them, take the set down. Each operation is complete when its promise resolves.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@stci/compliance/deadline';
import { runOrThrow, runProgram } from './exec.js';
import type { Argv, RunOptions, RunResult } from './exec.js';
import { HostsError, LOGIN, NETWORK, addressOf, hostNames, netnsPath, placesOf } from './names.js';
import { INTERFACE, setLink, setRate, wiredPlaces } from './network.js';
import { asHostUser, enter, hostUser, withHostUser } from './privilege.js';
import { hostTree, killAllIn, netnsInode, processesIn, signal, startTicks } from './procs.js';
import type { Process } from './procs.js';
import { removeSet } from './remove.js';
import { Slurm, daemonOf } from './slurm.js';
import { startPlaces } from './start.js';
import { underLock } from './state.js';
import type { SetState } from './state.js';

const OPERATION_DEADLINE_MS = 10_000;
const START_DEADLINE_MS = 20_000;
const SSHD = /^(\/\S*\/)?sshd[: ]/;

export class Hosts {
  readonly set: string;
  /** h1 … hN, absent ones included. */
  readonly names: readonly string[];
  /** HOME on the login side. */
  readonly loginHome: string;
  /** HOME on every host: the same path, whether shared or not. */
  readonly home: string;
  readonly #state: SetState;
  readonly #slurm: Slurm | undefined;

  constructor(state: SetState) {
    const places = placesOf(state.set);
    this.set = state.set;
    this.names = hostNames(state.size);
    this.loginHome = places.loginHome;
    this.home = places.home;
    this.#state = state;
    this.#slurm = state.slurm && new Slurm(state.set, (argv, options) => this.run(argv, options));
  }

  /** Slurm's daemons and nodes. Throws if the set was made without it. */
  get slurm(): Slurm {
    if (this.#slurm !== undefined) return this.#slurm;
    throw new HostsError(`the test hosts "${this.set}" have no Slurm: make them with it (up N --slurm)`);
  }

  /** IPv4 address of a host or of `login`. */
  address(place: string): string {
    if (place !== LOGIN) this.#known(place);
    return addressOf(this.#state.subnet, place);
  }

  traits(host: string): readonly string[] {
    this.#known(host);
    return this.#state.traits[host] ?? [];
  }

  /** Runs a program on the login side, from where `ssh h1` works. Any status resolves. */
  async run(argv: Argv, options: RunOptions = {}): Promise<RunResult> {
    const { cwd, env, ...rest } = options;
    return runProgram(this.loginArgv(argv, { ...(cwd !== undefined && { cwd }), ...(env && { env }) }), rest);
  }

  /**
   * Command for child_process.spawn that runs `argv` on the login side. It stays one process (entering namespaces needs
   * no fork), so signals, pid, descriptors and exit status are the program's own.
   */
  loginArgv(argv: Argv, { cwd, env }: Pick<RunOptions, 'cwd' | 'env'> = {}): Argv {
    const holder = this.#loginHolder();
    const namespaces = [`--net=${netnsPath(this.set, LOGIN)}`, `--mount=/proc/${holder}/ns/mnt`,
      `--uts=/proc/${holder}/ns/uts`];
    const environment = inEnvironment(this.loginHome, cwd ?? process.cwd(), env ?? {});
    return this.#enter(namespaces, [...asHostUser(), ...environment, ...argv]);
  }

  /** Output of a program that runs on a host as from its console, without ssh; rejects unless it ends with status 0. */
  async runOn(host: string, argv: Argv, options: RunOptions = {}): Promise<string> {
    const { cwd, env, ...rest } = options;
    return runOrThrow(this.hostArgv(host, argv, { ...(cwd !== undefined && { cwd }), ...(env && { env }) }), rest);
  }

  /** Command for child_process.spawn for this. It forks the program, as entering a process tree requires. */
  hostArgv(host: string, argv: Argv, { cwd, env }: Pick<RunOptions, 'cwd' | 'env'> = {}): Argv {
    const namespaces = ['--target', String(this.#init(host)), '--mount', '--uts', '--ipc', '--net', '--pid'];
    return this.#enter(namespaces, [...withHostUser(), ...inEnvironment(this.home, cwd ?? '/', env ?? {}), ...argv]);
  }

  /** True while the host's first process runs. */
  isUp(host: string): boolean {
    return this.#findInit(host) !== undefined;
  }

  /** True if the host is only an address. */
  isAbsent(host: string): boolean {
    this.#known(host);
    return !wiredPlaces(this.#state).includes(host);
  }

  /**
   * Kills the host's first process, and so all: its kernel closes its sockets, and peers are notified. To simulate a
   * power failure, cut it first.
   */
  async kill(host: string): Promise<void> {
    this.#init(host);
    await killAllIn(new Set([this.#inode(host)]), OPERATION_DEADLINE_MS);
  }

  /** Starts a killed host again, with the same address and keys. */
  async start(host: string): Promise<void> {
    if (this.isUp(host)) throw new HostsError(`${host} is up; kill it before it is started again`);
    this.#inode(host);
    await startPlaces(this.#state, [host], START_DEADLINE_MS);
  }

  /** Cuts the host's network: no packet passes either way, its programs continue. */
  async cut(host: string): Promise<void> {
    this.#inode(host);
    await setLink(this.set, [NETWORK, host], 'down');
  }

  /** Takes the host's own interface down: packets pass no more than after `cut`, and its kernel knows. */
  async unplug(host: string): Promise<void> {
    this.#inode(host);
    await setLink(this.set, [host, INTERFACE], 'down');
  }

  /** What `cut` and `unplug` have done. */
  async mend(host: string): Promise<void> {
    this.#inode(host);
    await setLink(this.set, [host, INTERFACE], 'up');
    await setLink(this.set, [NETWORK, host], 'up');
  }

  /** Bounds the host's bandwidth in kilobits per second each way, from 8; undefined: unbounded. */
  async slow(host: string, kilobits: number | undefined): Promise<void> {
    this.#inode(host);
    if (kilobits !== undefined && !(Number.isInteger(kilobits) && kilobits >= 8 && kilobits <= 10_000_000)) {
      throw new HostsError(`a rate is a whole number of kilobits per second from 8 to 10000000, not ${kilobits}`);
    }
    await setRate(this.set, host, kilobits);
  }

  /** Stops every process of the host: its kernel still accepts connections, but no program answers. */
  async freeze(host: string): Promise<void> {
    this.#init(host);
    await this.#signalAll(host, 'SIGSTOP', /^State:\s*[TtZX]/m);
  }

  async thaw(host: string): Promise<void> {
    this.#init(host);
    await this.#signalAll(host, 'SIGCONT', /^State:\s*[^Tt\s]/m);
  }

  /** All processes in the host's tree, its first one included; none if it is down. */
  processes(host: string): Process[] {
    return hostTree(this.#inode(host));
  }

  /** Processes on a host other than its own sshd and slurmd; on `login` other than the set's own. */
  leftovers(place: string): Process[] {
    if (place !== LOGIN) {
      return this.processes(place).filter(({ hostPid, command }) =>
        hostPid !== 1 && !SSHD.test(command) && !this.#isSlurms(command));
    }
    const holder = this.#loginHolder();
    const keeper = ` stci-hosts ${this.set} ${placesOf(this.set).root} `;
    return processesIn(netnsInode(netnsPath(this.set, LOGIN)))
      .filter(({ pid, command }) => pid !== holder && pid !== process.pid && !command.includes(keeper))
      .filter(({ command }) => !this.#isSlurms(command));
  }

  /** The leftovers of all hosts and the login side, by place; places without any are omitted. */
  allLeftovers(): ReadonlyMap<string, Process[]> {
    const places = wiredPlaces(this.#state);
    const all = places.map((place) => [place, this.leftovers(place)] as const);
    return new Map(all.filter(([, left]) => left.length > 0));
  }

  /** Log of sshd and the host's start: the host's side of a failed login. */
  log(host: string): string {
    this.#inode(host);
    return readFileSync(join(placesOf(this.set).of(host), 'log'), 'utf8');
  }

  /**
   * Ends all processes of the set, those on the login side too, and removes its files and namespaces. Can be repeated.
   */
  async down(): Promise<void> {
    await underLock(() => removeSet(this.set));
  }

  #enter(namespaces: readonly string[], argv: readonly string[]): Argv {
    return enter(placesOf(this.set).root, namespaces, argv);
  }

  #isSlurms(command: string): boolean {
    return this.#slurm !== undefined && daemonOf(command) !== undefined;
  }

  #known(host: string): void {
    if (this.names.includes(host)) return;
    throw new HostsError(`there is no host "${host}" in "${this.set}": they are h1 to h${this.names.length}`);
  }

  #inode(host: string): number {
    this.#known(host);
    const inode = netnsInode(netnsPath(this.set, host));
    if (inode !== undefined) return inode;
    const why = this.isAbsent(host) ? `${host} is absent: there is only its address` : `"${this.set}" is down`;
    throw new HostsError(why);
  }

  #findInit(host: string): number | undefined {
    return hostTree(this.#inode(host)).find(({ hostPid }) => hostPid === 1)?.pid;
  }

  #init(host: string): number {
    const init = this.#findInit(host);
    if (init !== undefined) return init;
    throw new HostsError(`${host} is not up: npm run hosts -- start ${host} starts it`);
  }

  /** The process that holds the login side's mounts; verified each time, because pids are reused. */
  #loginHolder(): number {
    const [pid, ticks] = readText(join(placesOf(this.set).of(LOGIN), 'ready')).trim().split(' ');
    if (ticks !== undefined && startTicks(Number(pid)) === ticks) return Number(pid);
    throw new HostsError(`the test hosts "${this.set}" are not up: take them down, and up again`);
  }

  async #signalAll(host: string, name: NodeJS.Signals, done: RegExp): Promise<void> {
    await eventually(() => {
      const pids = hostTree(this.#inode(host)).map(({ pid }) => pid);
      const waiting = pids.filter((pid) => !done.test(readText(`/proc/${pid}/status`) || 'State:\tX'));
      for (const pid of waiting) signal(pid, name);
      return waiting.length === 0;
    }, { deadlineMs: OPERATION_DEADLINE_MS, what: `${name} at all processes of ${host}` });
  }
}

/** `env` sets the variables of a login and changes to the working directory; the caller's ssh agent is excluded. */
function inEnvironment(home: string, cwd: string, env: NonNullable<RunOptions['env']>): string[] {
  const removed = ['SSH_AUTH_SOCK', ...Object.keys(env).filter((name) => env[name] === undefined)];
  const set = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  const user = [`HOME=${home}`, `USER=${hostUser.name}`, `LOGNAME=${hostUser.name}`];
  return ['env', '-C', cwd, ...removed.flatMap((name) => ['-u', name]), ...user, ...set];
}

/** Empty if the file or its process is gone. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
