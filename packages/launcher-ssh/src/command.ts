/**
 * The command that starts an agent: arguments of the OpenSSH client, and the words for the host's login shell. sshd
 * passes the whole command as one line to the user's shell (sh, bash, zsh, csh, fish), so each word is written in a way
 * that all of them read alike: single quotes around characters that have no meaning inside them.
 */

import { PROGRAM_TEXT, SHELL_TEXT, escapedText, printfText, programWord, shellText } from '@stci/host-program';
import { assert, type HostSpec } from '@stci/interface';

/** Characters that sh, bash, zsh, ksh, csh, tcsh and fish read alike within single quotes. */
const SAFE_TEXT = /^[^'!\\\n\0]*$/;
/** A path that needs no quoting. */
const PLAIN_PATH = /^\/[A-Za-z0-9_./+@%,=-]*$/;
/** Host names that OpenSSH refuses since 9.6, for the sake of ProxyCommand; this protects older versions too. */
const BAD_HOST = /^-|['`"$\\;&<>|(){}\s\p{Cc}]|^$/u;

/** Default time that a host waits for its data. */
const WAIT_MS = 30_000;

export interface SshParams {
  /** Program and options of the user, before ours: ssh uses the first value of an option. */
  readonly client: string;
  readonly options: readonly string[];
  /** Path or name of node on the hosts; empty: find one. */
  readonly node: string;
  readonly connectMs: number;
  /** Key exchanges that the client may use, as in KexAlgorithms; empty: the user's configuration. */
  readonly kex?: string;
  /** Silence after which a host is lost; absent: the client ends when the system gives up the connection. */
  readonly silenceMs?: number;
  /** The client reports its steps. */
  readonly steps?: boolean;
}

export interface RemoteStart {
  readonly nonce: string;
  /** Of the bundle; of another program its argument, in hexadecimal. */
  readonly hash: string;
  readonly bundleBytes: number;
  /** The node that runs this agent: tried on the host after those in PATH. */
  readonly ownNode: string;
  readonly node: string;
  /** AgentBundle.holder; absent: no descriptors are opened for the program. */
  readonly holder?: string;
  /** How long the host waits for data from this agent. */
  readonly waitMs?: number;
  /** A program of `hostProgram` to run instead of the agent. */
  readonly program?: string;
}

/** Why ssh must not be called with that name; undefined if it may. */
export function hostProblem(name: string): string | undefined {
  return BAD_HOST.test(name) ? 'is no host name: it begins with - or contains blanks or shell characters' : undefined;
}

/** `client`'s whole command line. It contains no secret: any user of this machine can read it. */
export function sshCommand(host: HostSpec, params: SshParams, start: RemoteStart): readonly string[] {
  const seconds = Math.max(1, Math.ceil(params.connectMs / 1000));
  return [
    params.client,
    ...params.options,
    '-T', // No terminal: the channel carries bytes.
    '-x', // No X11: setting it up costs a login more than the login.
    '-e', 'none', // No escape character in a stream of bytes.
    '-o', 'BatchMode=yes', // No questions: fail instead.
    '-o', `ConnectTimeout=${seconds}`,
    ...aliveOptions(params.silenceMs),
    '-o', 'ClearAllForwardings=yes', // The user's tunnels are for interactive logins; many at once would collide.
    '-o', 'RemoteCommand=none', // A command in the configuration would prevent ours.
    '-o', 'ControlMaster=no', // Use an existing master, but do not become one: others would inherit its options.
    '-o', `LogLevel=${params.steps === true ? 'DEBUG1' : 'VERBOSE'}`, // Report when the login has succeeded.
    ...(params.kex ? ['-o', `KexAlgorithms=${params.kex}`] : []),
    ...(host.user === undefined ? [] : ['-l', host.user]),
    '--',
    host.name,
    remoteCommand(start),
  ];
}

/** Part of the silence after which the client asks for a sign of life; it waits as long for the answer. */
const ALIVE_FRACTION = 3 / 4;

/**
 * Signs of life between client and server: a client that nobody ends, because what started it was killed, ends when
 * the host is cut off. That takes longer than the silence, 3/2 of it: a link that is lost by its lease is known to have
 * been silent, one whose connection has closed is not. Nothing is sent while data comes.
 */
function aliveOptions(silenceMs: number | undefined): readonly string[] {
  if (silenceMs === undefined) return [];
  const seconds = Math.max(1, Math.ceil((silenceMs * ALIVE_FRACTION) / 1000));
  return ['-o', `ServerAliveInterval=${seconds}`, '-o', 'ServerAliveCountMax=1'];
}

/** The command line for the login shell. */
export function remoteCommand(start: RemoteStart): string {
  const ownNode = PLAIN_PATH.test(start.ownNode) ? start.ownNode : '';
  const { nonce, hash, bundleBytes, program = PROGRAM_TEXT } = start;
  const words = [programWord(program), 'base64', nonce, hash, String(bundleBytes), ownNode];
  const quoted = [
    `'${printfText(shellText(start.holder ?? ''))}'`,
    ...words.map(singleQuoted),
    escapedWord(start.node),
    singleQuoted(String(start.waitMs ?? WAIT_MS)),
  ];
  return `exec /bin/sh -c ${singleQuoted(SHELL_TEXT)} stci-guardian ${quoted.join(' ')}`;
}

function singleQuoted(word: string): string {
  assert(SAFE_TEXT.test(word), 'a quoted word holds nothing that a shell reads in quotes');
  return `'${word}'`;
}

/** Any text as a word that `printf %b` decodes in every shell. */
export function escapedWord(text: string): string {
  return `'${escapedText(text)}'`;
}
