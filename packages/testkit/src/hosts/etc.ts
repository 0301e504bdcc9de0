/**
 * A set's own files in /etc: names of hosts, and the account that logs in. They are bound over the machine's in the
 * set's mount namespaces.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOGIN, addressOf, hostNames } from './names.js';
import type { Places } from './names.js';
import { hostUser, isRoot } from './privilege.js';
import type { SetState } from './state.js';

export const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/**
 * Files bound over /etc on the hosts and the login side. `group` only if sshd does not run as root: it would try to
 * give terminals to the group tty and fail; without that group the terminal is the user's own.
 */
export const BOUND_FILES = ['hosts', 'nsswitch.conf', 'passwd', 'shadow', ...(isRoot ? [] : ['group'])];

export function writeEtc({ size, subnet }: SetState, { etc, home, loginHome }: Places): void {
  const lines = [LOGIN, ...hostNames(size)].map((place) => `${addressOf(subnet, place)} ${place}`);
  const { name, gid } = hostUser;
  const texts: Readonly<Record<string, string>> = {
    'hosts': ['127.0.0.1 localhost', '::1 localhost', ...lines, ''].join('\n'),
    // Names are resolved from the file only: no name server, no timeouts.
    'nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files\n',
    'passwd': passwd(home, SHELL),
    'passwd-login': passwd(loginHome, SHELL),
    // No password is valid, and the account is not locked (a locked one is refused before its key is checked).
    'shadow': `${name}:*:19000:0:99999:7:::\n`,
    'group': `${name}:x:${gid}:\nnogroup:x:65534:\n`,
  };
  for (const [file, text] of Object.entries(texts)) {
    writeFileSync(join(etc, file), text, { mode: file === 'shadow' ? 0o600 : 0o644 });
  }
}

/** This machine's accounts, with another home and shell for the user. */
export function passwd(home: string, shell: string): string {
  const { name, uid, gid } = hostUser;
  const others = readFileSync('/etc/passwd', 'utf8').split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith(`${name}:`));
  return [`${name}:x:${uid}:${gid}:${name}:${home}:${shell}`, ...others, ''].join('\n');
}
