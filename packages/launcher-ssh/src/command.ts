/**
 * The command that starts an agent: the OpenSSH client's arguments, and the words that the login shell of the host
 * reads. sshd gives the whole command as one line to whatever shell the user has (sh, bash, zsh, csh, fish), so each
 * word is made of what all of them read alike: single quotes around characters that mean nothing inside them.
 */

import { assert, type HostSpec } from '@stci/interface';
import { base64 } from './base64.js';
import { hereArguments, PROGRAM_TEXT, SHELL_TEXT, shellText } from './loader.js';

/** Single-quoted: read alike by sh, bash, zsh, ksh, csh, tcsh and fish. */
const SAFE_TEXT = /^[^'!\\\n\0]*$/;
/** A path that may stand in a word as it is. */
const PLAIN_PATH = /^\/[A-Za-z0-9_./+@%,=-]*$/;
/** What OpenSSH refuses in a host's name since 9.6, for the sake of ProxyCommand: older ones are protected too. */
const BAD_HOST = /^-|['`"$\\;&<>|(){}\s\p{Cc}]|^$/u;

/** How long a host waits where nobody says. */
const WAIT_MS = 30_000;

/** Made at the first use: most agents start nobody over ssh, and it costs each of them 2 ms and 1 MiB. */
let programWord: string | undefined;

export interface SshParams {
  /** Program and options of the user, before ours: of two values of an option ssh takes the first. */
  readonly client: string;
  readonly options: readonly string[];
  /** Path or name of node on the hosts; empty: find one. */
  readonly node: string;
  readonly connectMs: number;
  /** Key exchanges that the client may use, as KexAlgorithms; empty: the user's own. */
  readonly kex?: string;
  /** The client tells its steps. */
  readonly steps?: boolean;
}

export interface RemoteStart {
  readonly nonce: string;
  readonly hash: string;
  readonly bundleBytes: number;
  /** The starter's own node: tried on the host after those in its PATH. */
  readonly ownNode: string;
  readonly node: string;
  /** AgentBundle.holder; absent: nothing is held for the program. */
  readonly holder?: string;
  /** How long the host waits for what its starter sends. */
  readonly waitMs?: number;
  /** A program of `hostProgram` to run in place of the agent. */
  readonly program?: string;
}

/** Why ssh is not called with that name; undefined where it may be. */
export function hostProblem(name: string): string | undefined {
  return BAD_HOST.test(name) ? 'is no host name: it begins with - or holds blanks or characters of shells' : undefined;
}

/** `client`'s whole command line. Nothing secret is in it: any user of this machine can read it. */
export function sshCommand(host: HostSpec, params: SshParams, start: RemoteStart): readonly string[] {
  const seconds = Math.max(1, Math.ceil(params.connectMs / 1000));
  return [
    params.client,
    ...params.options,
    '-T', // No terminal: the channel carries bytes.
    '-x', // No X11: setting it up costs a login more than the login.
    '-e', 'none', // No escape character in a stream of bytes.
    '-o', 'BatchMode=yes', // Ask nobody: fail instead.
    '-o', `ConnectTimeout=${seconds}`,
    '-o', 'ClearAllForwardings=yes', // The user's tunnels are for the user's own logins; many at once would collide.
    '-o', 'RemoteCommand=none', // One of the configuration would forbid ours.
    '-o', 'ControlMaster=no', // A master that is there is used; we become none, whose options others would inherit.
    '-o', `LogLevel=${params.steps === true ? 'DEBUG1' : 'VERBOSE'}`, // It then says when the login has succeeded.
    ...(params.kex ? ['-o', `KexAlgorithms=${params.kex}`] : []),
    ...(host.user === undefined ? [] : ['-l', host.user]),
    '--',
    host.name,
    remoteCommand(start),
  ];
}

/** The line for the login shell. */
export function remoteCommand(start: RemoteStart): string {
  const ownNode = PLAIN_PATH.test(start.ownNode) ? start.ownNode : '';
  const word = start.program === undefined ? (programWord ??= base64(PROGRAM_TEXT)) : base64(start.program);
  const words = [word, 'base64', start.nonce, start.hash, String(start.bundleBytes), ownNode];
  const quoted = [
    printfWord(shellText(start.holder ?? '')),
    ...words.map(singleQuoted),
    escapedWord(start.node),
    singleQuoted(String(start.waitMs ?? WAIT_MS)),
  ];
  return `exec /bin/sh -c ${singleQuoted(SHELL_TEXT)} stci-guardian ${quoted.join(' ')}`;
}

/** Node's command line for `program` on this machine, without a login: what the shell would have given it. */
export function localCommand(program: string, nonce: string, node: string): readonly string[] {
  return [node, ...hereArguments(base64(program), nonce, node)];
}

/** A text of ASCII as a word for `printf %b`: only what some shell reads within quotes is written in octal. */
function printfWord(text: string): string {
  return `'${text.replaceAll(/['!\\\n]/g, octal)}'`;
}

function octal(char: string): string {
  return `\\0${char.charCodeAt(0).toString(8).padStart(3, '0')}`;
}

function singleQuoted(word: string): string {
  assert(SAFE_TEXT.test(word), 'a quoted word holds nothing that a shell reads in quotes');
  return `'${word}'`;
}

/** Any text as a word that `printf %b` turns into the text: what shells may read differently is written in octal. */
export function escapedWord(text: string): string {
  let word = '';
  for (const byte of utf8(text)) {
    const char = String.fromCharCode(byte);
    word += /[A-Za-z0-9_./:=@%+,~-]/.test(char) ? char : octal(char);
  }
  return `'${word}'`;
}

function utf8(text: string): number[] {
  return Array.from(encodeURIComponent(text).matchAll(/%([0-9A-F]{2})|[^%]/g), ([char, hex]) =>
    hex === undefined ? char.charCodeAt(0) : parseInt(hex, 16));
}
