/**
 * Makes a set of test hosts, or opens an existing one. Only what must be exclusive is done under the lock: leftovers
 * are removed, name and number chosen, the state written.
 */

import { startHolder } from './holder.js';
import { checkCanMakeHosts, checkCanRunSlurm, inspectMachine } from './machine.js';
import { Hosts } from './hosts.js';
import { HostsError, LOGIN, checkSetName, checkSize, hostNames } from './names.js';
import { makeNetwork, reachedHosts, wiredPlaces } from './network.js';
import { writeFiles } from './files.js';
import { removeLeftovers } from './remove.js';
import { checkSlurmOptions } from './slurm-options.js';
import type { SlurmOptions } from './slurm-options.js';
import { startPlaces } from './start.js';
import { bootId, createState, freeSubnet, readStates, readState, thisOwner, underLock, updateState } from './state.js';
import type { SetState } from './state.js';
import { parseTraits } from './traits.js';

export interface UpOptions {
  /** Name of the set; default: a free one. */
  readonly set?: string;
  /** Host → traits, as `{ h3: ['no-node'], h4: ['slow-login:2000'] }`. */
  readonly traits?: Readonly<Record<string, readonly string[]>>;
  /** Slurm on all hosts, with the login side as its controller; rejects if whyNoSlurm() gives a reason. */
  readonly slurm?: boolean | SlurmOptions;
  /** True: the set outlives this process. Default false: the next up() after the end of this process removes it. */
  readonly kept?: boolean;
  /** Deadline for all hosts to be up. Default 30 000. */
  readonly deadlineMs?: number;
}

/** Makes `size` hosts h1 … hN, 1 to 240. Rejects with a HostsError; then it has removed all of them. */
export async function up(size: number, options: UpOptions = {}): Promise<Hosts> {
  checkCanMakeHosts();
  checkSize(size);
  if (options.set !== undefined) checkSetName(options.set);
  checkTraits(size, options.traits ?? {});
  const slurm = slurmOptions(options.slurm);
  const state = await underLock(() => claim(size, options, slurm));
  const hosts = new Hosts(state);
  try {
    writeFiles(state, await inspectMachine(state.slurm));
    await startHolder(state.set);
    await makeNetwork(state);
    await startAll(hosts, state, options.deadlineMs ?? 30_000);
    updateState({ ...state, phase: 'up' });
    return hosts;
  } catch (error) {
    await hosts.down();
    throw error;
  }
}

async function startAll(hosts: Hosts, state: SetState, deadlineMs: number): Promise<void> {
  const places = wiredPlaces(state);
  if (state.slurm === undefined) return startPlaces(state, places, deadlineMs);
  await startPlaces(state, [LOGIN], deadlineMs);
  await hosts.slurm.startMunge();
  await hosts.slurm.startSlurmctld();
  await startPlaces(state, places.filter((place) => place !== LOGIN), deadlineMs);
  await hosts.slurm.untilNodes(reachedHosts(state), 'idle', deadlineMs);
}

function slurmOptions(given: boolean | SlurmOptions = false): SlurmOptions | undefined {
  if (given === false) return undefined;
  checkCanRunSlurm();
  const root = process.env['STCI_TEST_SLURM_ROOT'];
  const options = { ...(root && { root }), ...(given === true ? {} : given) };
  checkSlurmOptions(options);
  return options;
}

/** Opens a set that is up. Rejects if there is none. */
export function attach(set: string): Hosts {
  checkCanMakeHosts();
  checkSetName(set);
  const state = readState(set);
  if (state?.phase === 'up') return new Hosts(state);
  throw new HostsError(`there are no test hosts "${set}"; npm run hosts -- list shows all, -- up 8 makes some`);
}

/** All recorded sets, leftovers included. */
export function listSets(): SetState[] {
  return [...readStates().values()].filter((state) => state !== undefined);
}

async function claim(size: number, options: UpOptions, slurm: SlurmOptions | undefined): Promise<SetState> {
  await removeLeftovers();
  const states = readStates();
  const subnet = freeSubnet(states.values());
  const set = options.set ?? `t${subnet}`;
  const taken = states.get(set);
  if (taken !== undefined) {
    const by = taken.kept ? '' : ` and in use by process ${taken.owner.pid}`;
    throw new HostsError(`the test hosts "${set}" are up already${by}; take them down or choose another --set`);
  }
  const state: SetState = {
    set, subnet, size, traits: options.traits ?? {}, kept: options.kept ?? false, phase: 'making',
    owner: thisOwner(), bootId: bootId(), ...(slurm && { slurm }),
  };
  createState(state);
  return state;
}

function checkTraits(size: number, traits: Readonly<Record<string, readonly string[]>>): void {
  const names = hostNames(size);
  for (const [host, words] of Object.entries(traits)) {
    if (!names.includes(host)) throw new HostsError(`traits for ${host}, but the hosts are h1 to h${size}`);
    parseTraits(words);
  }
}
