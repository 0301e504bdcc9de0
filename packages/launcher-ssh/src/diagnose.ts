/**
 * From ssh's messages to advice for the user. One table of OpenSSH's own sentences (and the operating system's below
 * them); for any other, the advice depends on the phase that was reached. ssh's text is kept in every message: the
 * advice is a guess, the text is the fact.
 */

import { NODE_MAJOR_MIN, type FailedPhase } from '@stci/host-program';
import type { ErrorRecord, ProcessEnd, ReachFailure } from '@stci/interface';

/** Phases in order of time; `socket` for an agent that runs already. */
export type SshPhase =
  'resolve' | 'connect' | 'authenticate' | 'login shell' | 'node' | 'bundle' | 'socket' | 'handshake';

export interface SshFacts {
  readonly host: string;
  /** User name from the host list; undefined: as ssh is configured. */
  readonly user?: string | undefined;
  /** Phase of the start when it ended. */
  readonly phase: SshPhase;
  readonly end: ProcessEnd;
  /** Last lines of standard error, of ssh and the host. */
  readonly lines: readonly string[];
  /** Output of the host's login scripts on standard output. */
  readonly banner: string;
  /** The host's own answer: no node, a damaged bundle, a socket that cannot be used. */
  readonly report?: { readonly phase: FailedPhase; readonly text: string } | undefined;
  /** The output of login scripts exceeded its bound. */
  readonly flooded?: boolean;
  /** The node that the user specified; empty: none. */
  readonly node: string;
}

interface Finding {
  readonly phase: SshPhase;
  readonly what: string;
  readonly remedy: string;
}

type Row = readonly [pattern: RegExp, phase: SshPhase, what: string, remedy: string];

const BY_HAND = 'Try `ssh LOGIN true` by hand';

/** The first match counts: causes precede their consequences. */
const SENTENCES: readonly Row[] = [
  [/Could not resolve hostname/i, 'resolve', 'the name of the host is not known',
    'Correct the name, or give it an address (HostName in ~/.ssh/config, /etc/hosts, DNS).'],
  [/Bad configuration option|terminating, \d+ bad conf|Bad owner or permissions on|unknown option|^usage: ssh/im,
    'connect', 'ssh refuses its own configuration or options',
    'Correct what it names: ~/.ssh/config, or launcherproc.ssh.options.'],
  [/Connection refused/i, 'connect', 'connection refused: no ssh server listens',
    'Start sshd there, or give the right port (Port in ~/.ssh/config).'],
  [/No route to host|Network is unreachable|Host is down/i, 'connect', 'no route to host',
    'Is it switched on, and the address right? Leave it out of the host list otherwise.'],
  [/timed out during banner exchange/i, 'connect', 'something listens there, but does not answer',
    'Its sshd is stopped or overloaded: look at the host, or leave it out.'],
  [/(Connection|Operation) timed out|Connection to .* timed out/i, 'connect', 'the host does not answer',
    'Is it switched on, and not behind a firewall? To wait longer: --mca launcher.ssh.connect=30s.'],
  [/REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/, 'authenticate',
    'the host shows another key than it did before',
    'Ask its administrator why. If the change is intended: ssh-keygen -R HOST, then `ssh LOGIN true` once by hand.'],
  [/No \S+ host key is known|host key is not cached|DNS.*fingerprint/i, 'authenticate',
    'the key of the host is not known',
    '`ssh LOGIN true` once by hand and confirm the key, or have it put into known_hosts (ssh-keyscan).'],
  [/Host key verification failed/i, 'authenticate', 'the key of the host is not accepted',
    '`ssh LOGIN true` once by hand shows why; known_hosts must have its key.'],
  [/Too many authentication failures/i, 'authenticate', 'too many keys were offered before the right one',
    'Name the key: IdentityFile with IdentitiesOnly yes in ~/.ssh/config.'],
  [/Permission denied \(/i, 'authenticate', 'the login was refused; passwords are never asked for',
    'Put your public key into authorized_keys there (ssh-copy-id LOGIN), load it (ssh-add), check the user name.'],
  [/no matching (host key type|key exchange method|cipher|MAC) found|Unable to negotiate/i, 'connect',
    'the two versions of ssh have no method in common', 'Allow one of the methods that it offers in ~/.ssh/config.'],
  [/(kex|ssh)_exchange_identification|Connection (closed|reset) by .* port \d+|Connection reset/i, 'connect',
    'the host ended the connection before the login',
    'Its sshd has too many logins at once (MaxStartups: use a smaller launcher.window) or refuses this address.'],
  [/cannot execute.*RemoteCommand|administratively prohibited|channel .* open failed/i, 'login shell',
    'the host allows no command', 'Look at ForceCommand and restrictions in authorized_keys there.'],
];

/** Advice by phase if no sentence is known. */
const BY_PHASE: Readonly<Record<SshPhase, readonly [what: string, remedy: string]>> = {
  resolve: ['ssh could not start', `${BY_HAND}.`],
  connect: ['ssh ended before the login', `${BY_HAND}, with -v.`],
  authenticate: ['ssh ended during the login', `${BY_HAND}, with -v.`],
  'login shell': ['the login shell ended before it ran anything',
    'Look at the login shell and its start-up files there; `ssh LOGIN echo hello` must print hello.'],
  node: ['the shell on the host could not start node', 'Name a node that works there: --mca launcher.ssh.node=PATH.'],
  socket: ['the agent there is not reached', `${BY_HAND}; look at the host.`],
  bundle: ['the connection ended while the agent was sent', `${BY_HAND}; look at the host.`],
  handshake: ['the agent ended before it answered', 'See what it printed.'],
};

/** `text` with the words HOST and LOGIN replaced: the host as ssh's argument, with its user name. */
function fill(text: string, { host, user }: Pick<SshFacts, 'host' | 'user'>): string {
  return text.replaceAll('LOGIN', user === undefined ? host : `${user}@${host}`).replaceAll('HOST', host);
}

/** Advice for a start that took too long, by what it waited for. */
export function describeWait(phase: SshPhase, place: Pick<SshFacts, 'host' | 'user'>): string {
  if (phase === 'connect') return `connect or authenticate\n  what to do: ${fill(BY_HAND, place)}, with -v.`;
  if (phase !== 'login shell') return phase;
  return 'login shell\n  what to do: See what its start-up files there wait for, or wait longer: '
    + '--mca launcher.handshake=60s.';
}

const WORDS_CHARS_MAX = 300;
/** The last lines have the cause; a trace of our own is kept in full. */
const LINES_SHOWN_MAX = 4;

/** The error of a failed start. */
export function diagnose(facts: SshFacts): ErrorRecord {
  const { host, end, lines } = facts;
  const { phase, what, remedy } = find(facts);
  const shown = phase === 'handshake' ? lines : lines.slice(-LINES_SHOWN_MAX);
  const output = shown.filter((line) => !/^@*$/.test(line.trim())).map((line) => `\n  ssh printed: ${cut(line)}`);
  const printed = facts.banner.trim() === '' || phase === 'node' || phase === 'bundle'
    ? '' : `\n  the login printed: ${cut(oneLine(facts.banner))}`;
  const how = end.signal === undefined ? `ended with status ${end.status ?? 0}` : `was killed by ${end.signal}`;
  const message = `phase ${phase}: ${what}.${output.join('')}${printed}\n  ssh ${how}`
    + `\n  what to do: ${fill(remedy, facts)}`;
  return { code: 'STCI_LAUNCH_FAILED', message, host, data: { phase, status: end.status ?? -1, ...reachOf(facts) } };
}

function find(facts: SshFacts): Finding {
  const { phase, report, lines, flooded } = facts;
  if (flooded === true) {
    return { phase: 'login shell', what: 'the login scripts printed too much',
      remedy: 'Let its start-up files print only at a terminal (`ssh LOGIN true` must print nothing).' };
  }
  if (report?.phase === 'node') return nodeFinding(report.text, facts.node);
  if (report?.phase === 'bundle') return bundleFinding(report);
  if (report !== undefined) return socketFinding(report.phase, report.text);
  // After the login, only the end of the login shell counts: its output may look like any message.
  const isAfterLogin = phase !== 'resolve' && phase !== 'connect' && phase !== 'authenticate';
  const text = isAfterLogin ? '' : lines.join('\n');
  const row = SENTENCES.find(([pattern]) => pattern.test(text));
  if (row !== undefined) return { phase: row[1], what: row[2], remedy: row[3] };
  const [what, remedy] = BY_PHASE[phase];
  return { phase, what, remedy };
}

function nodeFinding(text: string, named: string): Finding {
  const phase = 'node';
  const remedy = `Install Node ${NODE_MAJOR_MIN} or later there, or name one that is there: `
    + '--mca launcher.ssh.node=PATH.';
  if (text.startsWith('old ')) {
    const found = text.slice(4);
    return { phase, what: `found ${found}; Node ${NODE_MAJOR_MIN} or later is needed`, remedy };
  }
  const what = named === ''
    ? 'the host has no node: neither in PATH of its login shell, nor where ours is, nor in the usual places'
    : `the host has no program ${named} (launcher.ssh.node)`;
  return { phase, what, remedy };
}

function bundleFinding({ text }: { readonly text: string }): Finding {
  return { phase: 'bundle', what: `the host did not accept the agent: ${text}`,
    remedy: 'Something in between changes bytes: `ssh LOGIN cat` must return its input.' };
}

function socketFinding(reach: ReachFailure, text: string): Finding {
  const remedy = {
    dead: 'None: its agent has ended there, and its programs with it.',
    refused: 'Others may have access to the directory of the agent\'s socket there: let nobody but you enter it.',
    unreachable: 'None: the next attempt may succeed.',
  }[reach];
  return { phase: 'socket', what: `the agent there is not reached: ${text}`, remedy };
}

function reachOf({ report }: SshFacts): { readonly reach?: ReachFailure } {
  if (report === undefined || report.phase === 'node' || report.phase === 'bundle') return {};
  return { reach: report.phase };
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, ' | ').replaceAll(/\p{Cc}/gu, '.');
}

function cut(text: string): string {
  return text.length <= WORDS_CHARS_MAX ? text : `${text.slice(0, WORDS_CHARS_MAX)}…`;
}
