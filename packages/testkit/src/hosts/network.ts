/**
 * The network of a set: one namespace with a bridge, and a veth pair to each host and to the login side. The bridge's
 * end of a pair has the host's name; a host is cut off by taking that end down, and sees only silence.
 */

import { LOGIN, NETWORK, addressOf, hostNames, netnsName, netnsPath, placesOf } from './names.js';
import type { SetState } from './state.js';
import { parseTraits } from './traits.js';
import { runOrThrow } from './exec.js';
import type { Argv } from './exec.js';
import { enter, netnsNames, netnsNamesAndHome } from './privilege.js';

/** Interface of a host, and of the login side. */
export const INTERFACE = 'eth0';
const MAKE_DEADLINE_MS = 30_000;

/** The places of a set that have a network namespace: login, and every host that is not absent. */
export function wiredPlaces({ size, traits }: SetState): string[] {
  return [LOGIN, ...hostNames(size).filter((host) => !parseTraits(traits[host] ?? []).names.has('absent'))];
}

export async function makeNetwork(state: SetState): Promise<void> {
  const places = wiredPlaces(state);
  const { set } = state;
  await batch(withNames(set, ['ip']), [...places, NETWORK].map((place) => `netns add ${netnsName(set, place)}`));
  await batch(inNetns(set, NETWORK, ['ip']), [
    'link add br0 type bridge stp_state 0 forward_delay 0',
    'link set br0 up',
    ...places.flatMap((place) => [
      `link add ${place} type veth peer name ${INTERFACE} netns ${netnsName(set, place)}`,
      `link set ${place} master br0 up`,
    ]),
  ]);
}

/** The hosts that packets reach. */
export function reachedHosts(state: SetState): string[] {
  return wiredPlaces(state).filter((place) => place !== LOGIN && !isSilent(state, place));
}

function isSilent({ traits }: SetState, place: string): boolean {
  return parseTraits(traits[place] ?? []).names.has('silent');
}

/**
 * Commands for `ip -batch` on a host's own side at start. A silent host has the address but no route back: it only
 * answers ARP requests.
 */
export function placeBatch(state: SetState, place: string): string {
  const width = isSilent(state, place) ? 32 : 24;
  const address = `${addressOf(state.subnet, place)}/${width}`;
  return ['link set lo up', `addr replace ${address} dev ${INTERFACE}`, `link set ${INTERFACE} up`, ''].join('\n');
}

/** Takes a device of a place up or down. */
export async function setLink(
  set: string, [place, device]: readonly [string, string], to: 'up' | 'down',
): Promise<void> {
  await runOrThrow(inNetns(set, place, ['ip', 'link', 'set', device, to]));
}

/** Bounds the bandwidth of a host in kilobits per second each way; undefined: unbounded. */
export async function setRate(set: string, host: string, kilobits: number | undefined): Promise<void> {
  for (const [place, device] of [[NETWORK, host], [host, INTERFACE]] as const) {
    const queue = (...words: string[]): Promise<string> => runOrThrow(inNetns(set, place, ['tc', 'qdisc', ...words]));
    // There may be no bound to remove, which would be an error: a queue is set first.
    const rate = ['root', 'tbf', 'rate', `${kilobits ?? 1_000_000}kbit`, 'burst', '4kb', 'latency', '10s'];
    await queue('replace', 'dev', device, ...rate);
    if (kilobits === undefined) await queue('del', 'dev', device, 'root');
  }
}

/** Removes namespaces of a set with their devices. Names that are gone already are no error. */
export async function removeNetns(set: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await batch(withNames(set, ['ip', '-force']), names.map((name) => `netns del ${name}`)).catch(() => undefined);
}

/** Command that runs a program of this machine in the network namespace of a host or the login side. */
function inNetns(set: string, place: string, argv: Argv): Argv {
  const { root } = placesOf(set);
  return enter(root, [...netnsNames(root), `--net=${netnsPath(set, place)}`], argv);
}

/** Command that runs a program which uses names of network namespaces. */
function withNames(set: string, argv: Argv): Argv {
  const { root } = placesOf(set);
  return enter(root, netnsNamesAndHome(root), argv);
}

async function batch(argv: Argv, lines: readonly string[]): Promise<void> {
  const input = `${lines.join('\n')}\n`;
  await runOrThrow([...argv, '-batch', '-'], { input, deadlineMs: MAKE_DEADLINE_MS });
}
