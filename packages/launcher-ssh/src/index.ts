/**
 * Component `ssh` of framework `launcherproc`: agents on other hosts, started over the user's own OpenSSH. The host
 * needs a login and a Node; the agent itself travels with the start and is kept there by its hash. See docs/ssh.md.
 */

import { accept, decline, defineComponent, launcherprocFramework } from '@stci/core/component';
import type { ParamValue } from '@stci/interface';
import type { SshParams } from './command.js';
import { createSsh } from './ssh.js';

export { createSsh } from './ssh.js';
export type { SshParams } from './command.js';
export { JOIN_PROGRAM } from './join.js';
export { remoteCommand, escapedWord, hostProblem, sshCommand } from './command.js';
export { describeWait, diagnose } from './diagnose.js';
export type { SshFacts, SshPhase } from './diagnose.js';
export { EndWatch } from './end-watch.js';
export { KexTimer, STEP_LINE, kexAdvice, type KeyExchange } from './kex.js';

/** Names that mean a different machine on each host. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i;

export const launcherSsh = defineComponent({
  framework: launcherprocFramework,
  name: 'ssh',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Agents on other hosts over OpenSSH, with the user\'s own configuration; nothing but Node is needed there.',
  params: {
    client: {
      type: 'string',
      default: 'ssh',
      aliases: ['launcher.ssh.client'],
      help: 'OpenSSH\'s client: a name that is looked up in PATH, or a path. May be written launcher.ssh.client.',
    },
    options: {
      type: 'string',
      default: '',
      aliases: ['launcher.ssh.options'],
      help: 'Options for the client, separated by blanks, placed before ours: `-F /etc/hosts.conf -p 2222`. '
        + 'May be written launcher.ssh.options.',
    },
    node: {
      type: 'string',
      default: '',
      aliases: ['launcher.ssh.node'],
      help: 'Node on the hosts: a path, or a name in PATH there; empty: the first that is new enough in PATH, at the '
        + 'path of ours, or in the usual places. May be written launcher.ssh.node.',
    },
    connect: {
      type: 'duration',
      default: 8000,
      min: 1000,
      max: 3_600_000,
      aliases: ['launcher.ssh.connect'],
      help: 'How long ssh waits for a host to answer, in whole seconds. If it is less than launcher.handshake, '
        + 'ssh itself reports the cause. May be written launcher.ssh.connect.',
    },
    kex: {
      type: 'string',
      default: '',
      aliases: ['launcher.ssh.kex'],
      help: 'Key exchanges for our logins, as KexAlgorithms of ssh: `curve25519-sha256`; empty: the user\'s own. '
        + 'Consequences: docs/ssh.md. May be written launcher.ssh.kex.',
    },
    steps: {
      type: 'bool',
      default: false,
      aliases: ['launcher.ssh.steps'],
      help: 'Trace the client\'s steps, and warn of a key exchange that takes most of a login; --verbose sets it. '
        + 'May be written launcher.ssh.steps.',
    },
  },
  query: ({ request: { hosts }, named, facts }) => {
    const loopback = hosts.find(({ name }) => LOOPBACK.test(name));
    if (loopback !== undefined && hosts.length > 1) {
      const { name, origin } = loopback;
      const own = typeof facts['hostname'] === 'string' ? `, ${facts['hostname']},` : '';
      const why = `${origin}: ${name} cannot be combined with other hosts, as it is a different machine on each`;
      return decline(`${why}. Write this machine's name${own} in its place`, 'STCI_HOSTLIST_INVALID');
    }
    return accept(40, named === true ? 'selected by name' : 'any host with a login');
  },
  create: (deps, params) => createSsh(deps, { ...sshParams(params), silenceMs: deps.leaseMs }),
});

export { findRelativePath } from './relative-paths.js';

/** Options from the values of the component's parameters. */
export function sshParams(params: Readonly<Record<string, ParamValue>>): SshParams {
  return {
    client: params['client'] as string,
    options: (params['options'] as string).split(/\s+/).filter((word) => word !== ''),
    node: params['node'] as string,
    connectMs: params['connect'] as number,
    kex: params['kex'] as string,
    steps: params['steps'] as boolean,
  };
}
