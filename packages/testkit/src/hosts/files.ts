/**
 * The files of a set: keys, configuration of clients and servers, files bound over /etc, homes, scripts. One user key
 * opens all hosts, from the login side and from each other; every host has its own host key.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SHELL, passwd, writeEtc } from './etc.js';
import { LOGIN, addressOf, hostNames, placesOf } from './names.js';
import type { Places } from './names.js';
import { makeKey } from './keys.js';
import type { Machine } from './machine.js';
import { placeBatch, wiredPlaces } from './network.js';
import { bannerShell, exitingShell, hostScript, loginScript, oldNode, oldNodePreload, slowShell } from './scripts.js';
import { writeSlurm } from './slurm-files.js';
import type { SetState } from './state.js';
import { hasOwnHome, parseTraits } from './traits.js';
import type { Traits } from './traits.js';

const PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

export function writeFiles(state: SetState, machine: Machine): void {
  const places = placesOf(state.set);
  const user = makeKey();
  const hostKeys = new Map(hostNames(state.size).map((host) => [host, makeKey()]));
  const known = knownHosts(state, new Map([...hostKeys].map(([host, key]) => [host, key.open])));
  for (const name of [places.etc, places.shells, dirname(places.privateHome('h1'))]) mkdirSync(name);
  writeEtc(state, places);
  writeSlurm(state, machine);
  writeFileSync(join(places.root, 'authorized-keys'), `${user.open} user@stci\n`);
  const homes = hostNames(state.size).filter((host) => hasOwnHome(traitsOf(state, host)));
  for (const home of [places.home, places.loginHome, ...homes.map((host) => places.privateHome(host))]) {
    writeHome(home, user.secret, known);
  }
  for (const place of wiredPlaces(state)) {
    mkdirSync(places.of(place), { recursive: true });
    write(places.of(place), 'network', placeBatch(state, place));
    if (place === LOGIN) write(places.of(LOGIN), 'init.sh', loginScript(places));
    else writeHost(state, place, hostKeys.get(place)?.secret ?? '', machine);
  }
}

function writeHost(state: SetState, host: string, key: string, machine: Machine): void {
  const places = placesOf(state.set);
  const at = places.of(host);
  const traits = traitsOf(state, host);
  write(at, 'host-key', key, 0o600);
  write(at, 'sshd_config', sshdConfig(places, host, traits, machine));
  const shell = writeShell(places, host, traits);
  if (shell !== SHELL) write(at, 'passwd', passwd(places.home, shell));
  if (traits.names.has('old-node')) {
    write(at, 'old-node.cjs', oldNodePreload());
    write(at, 'old-node', oldNode(at), 0o755);
  }
  write(at, 'init.sh', hostScript({
    places, host, traits, machine, ownPasswd: shell !== SHELL, slurm: state.slurm !== undefined,
  }));
}

/** The user's shell on this host; writes a special one first. */
function writeShell(places: Places, host: string, { names, loginDelayMs }: Traits): string {
  const text = names.has('shell-exits') ? exitingShell()
    : loginDelayMs > 0 || names.has('banner')
      ? slowShell(loginDelayMs, names.has('banner') ? bannerShell() : '', SHELL)
      : undefined;
  if (text === undefined) return SHELL;
  write(places.shells, host, text, 0o755);
  return join(places.shells, host);
}

function writeHome(home: string, key: string, known: string): void {
  const ssh = join(home, '.ssh');
  mkdirSync(ssh, { recursive: true, mode: 0o700 });
  write(ssh, 'id_ed25519', key, 0o600);
  write(ssh, 'known_hosts', known, 0o600);
  const client = [
    'Host *', 'IdentityFile ~/.ssh/id_ed25519', 'IdentitiesOnly yes', 'UserKnownHostsFile ~/.ssh/known_hosts',
    'GlobalKnownHostsFile /dev/null', 'StrictHostKeyChecking yes', 'UpdateHostKeys no', 'HashKnownHosts no',
    'GSSAPIAuthentication no', '',
  ];
  write(ssh, 'config', client.join('\n'), 0o600);
}

function knownHosts(state: SetState, keys: ReadonlyMap<string, string>): string {
  const lines = [...keys].flatMap(([host, key]) => {
    const { names } = traitsOf(state, host);
    if (names.has('unknown-host-key')) return [];
    return [`${host},${addressOf(state.subnet, host)} ${names.has('changed-host-key') ? makeKey().open : key}`];
  });
  return [...lines, ''].join('\n');
}

function sshdConfig(places: Places, host: string, { names }: Traits, machine: Machine): string {
  const at = places.of(host);
  const asksPassword = names.has('password');
  const path = [...PATH, ...machine.nodeDirectories.filter((directory) => !PATH.includes(directory))];
  return [
    'Port 22', `HostKey ${at}/host-key`, `PidFile ${at}/ready`, 'StrictModes no', 'PermitRootLogin yes',
    `AuthorizedKeysFile ${names.has('key-refused') ? 'none' : join(places.root, 'authorized-keys')}`,
    `PubkeyAuthentication ${asksPassword ? 'no' : 'yes'}`, `PasswordAuthentication ${asksPassword ? 'yes' : 'no'}`,
    'KbdInteractiveAuthentication no', 'UsePAM no', 'UseDNS no', 'MaxStartups 1000', 'MaxSessions 1000',
    'PrintMotd no', 'PrintLastLog no', 'AcceptEnv LANG LC_*', `SetEnv "PATH=${path.join(':')}"`,
    ...(machine.penalizesClients ? ['PerSourcePenalties no'] : []), '',
  ].join('\n');
}

function traitsOf(state: SetState, host: string): Traits {
  return parseTraits(state.traits[host] ?? []);
}

function write(directory: string, name: string, text: string, mode = 0o644): void {
  writeFileSync(join(directory, name), text, { mode });
}
