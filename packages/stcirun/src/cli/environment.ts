/**
 * What programs find in their environment (docs/environment.md): of the caller's variables those that `--export`
 * chooses, without what `--unset` names; overridden by those of `-x`, for one program. The variables of a rank
 * (`STCI_RANK`, …) override all of them and are added on the host.
 */

import { ENVIRONMENT_PREFIX, RESERVED_VARIABLES } from '@stci/core';
import { StciError } from '@stci/interface';

export type Variables = Readonly<Record<string, string>>;

/** Variables of this machine or login session: on another host what they name is not there, or another user's. */
export const SESSION_VARIABLES: readonly string[] = [
  '_', 'PWD', 'OLDPWD', 'SHLVL', 'HOST', 'HOSTNAME', 'TTY', 'LINES', 'COLUMNS', 'WINDOW', 'WINDOWID', 'STY', 'TMUX*',
  'SSH_*', 'GPG_*', 'KRB5CCNAME', 'SUDO_*', 'DISPLAY', 'WAYLAND_*', 'XAUTHORITY', 'ICEAUTHORITY', 'SESSION_MANAGER',
  'DBUS_*', 'XDG_RUNTIME_DIR', 'XDG_SESSION_*', 'XDG_SEAT*', 'XDG_VTNR', 'INVOCATION_ID', 'JOURNAL_STREAM',
  'NOTIFY_SOCKET', 'LISTEN_*', 'CREDENTIALS_DIRECTORY', 'SYSTEMD_*', 'VSCODE_*', 'STCI_SESSION',
];

/** Secrets by their names, in capitals or not. `TOKENIZERS_PARALLELISM` and `MAX_TOKENS` are none. */
export const SECRET_VARIABLES: readonly string[] = [
  '*TOKEN', '*TOKEN_*', 'TOKEN?', '*API_TOKENS', '*SECRET', '*SECRETS', '*SECRET_*', '*PASSWORD*', '*PASSWD*',
  '*PASSPHRASE*', 'PASS', '*_PASS', 'SSHPASS', 'PGPASS', 'PW', '*_PW', '*_PWD', '*CREDENTIAL*', '*_PAT', '*_KEY',
  '*APIKEY*', '*API_KEY*', '*ACCESS_KEY*', '*PRIVATE_KEY*', '*JWT*', '*_AUTH', '*AUTH_CONFIG*', '*_DSN', '*COOKIE*',
  '*WEBHOOK*',
];

/** Secrets by their values: a URL with a password, `scheme://user:password@host`. */
const SECRET_VALUE = /[a-z][a-z0-9+.-]{0,31}:\/\/[^\s/:@?#]{0,256}:[^\s/@?#]{1,256}@/iu;

export interface ExportRequest {
  /** Items of all `--export`, in order; none: `default`. */
  readonly exports: readonly string[];
  /** Each `--unset`: names and patterns. */
  readonly unset: readonly string[];
}

/**
 * The job's environment. Never in it: `STCI_MCA_*`, which set parameters of this run and must not leak into a stcirun
 * that a tool starts, and the rank variables of an outer run.
 */
export function toolEnvironment(caller: Variables, { exports, unset }: ExportRequest): Record<string, string> {
  const passable = Object.entries(caller).filter(([name]) => !name.startsWith(ENVIRONMENT_PREFIX) && !isReserved(name));
  const [first = 'default', ...rest] = exports;
  const base = BASES[first.toLowerCase()];
  const chosen = base === undefined ? [] : passable.filter(([name, value]) => base(name, value));
  const named = exportedVariables(base === undefined ? exports : rest, Object.fromEntries(passable), '--export');
  const isUnset = matcher(unset);
  return Object.fromEntries([...chosen, ...Object.entries(named)].filter(([name]) => !isUnset(name)));
}

/**
 * Names of the caller's variables that `--export` withholds from programs; those that are never passed on are
 * not named.
 */
export function withheld(caller: Variables, passed: Variables): string[] {
  const isPassable = (name: string): boolean => !name.startsWith(ENVIRONMENT_PREFIX) && !isReserved(name);
  return Object.keys(caller).filter((name) => isPassable(name) && !Object.hasOwn(passed, name));
}

const BASES: Readonly<Record<string, (name: string, value: string) => boolean>> = Object.assign(Object.create(null), {
  all: () => true,
  none: () => false,
  default: isPassedByDefault,
});

const isOfSession = matcher(SESSION_VARIABLES);
const isSecret = matcher(SECRET_VARIABLES);

function isPassedByDefault(name: string, value: string): boolean {
  return !isOfSession(name) && !isSecret(name.toUpperCase()) && !SECRET_VALUE.test(value);
}

/** `NAME=VALUE`, `NAME` with the caller's value, or a pattern such as `OMP_*`; later ones override earlier ones. */
export function exportedVariables(
  exports: readonly string[],
  caller: Variables,
  option: '-x' | '--export' = '-x',
): Record<string, string> {
  const variables = new Map<string, string>();
  for (const text of exports) {
    const equals = text.indexOf('=');
    if (equals === 0) throw usage(`${option}: expected NAME=VALUE, got '${text}' without a name.`);
    const names = equals > 0 ? [text.slice(0, equals)] : callerNames(text, caller, option);
    for (const name of names) variables.set(name, equals > 0 ? text.slice(equals + 1) : (caller[name] as string));
  }
  for (const name of variables.keys()) if (isReserved(name)) throw reserved(option, name);
  return Object.fromEntries(variables);
}

/** `__proto__` is a name as any other, and no other object's property is a variable. */
function callerNames(text: string, caller: Variables, option: string): readonly string[] {
  if (isReserved(text)) throw reserved(option, text);
  if (!/[*?]/u.test(text)) {
    if (Object.hasOwn(caller, text)) return [text];
    const isSrun = option === '-x' && caller['SLURM_JOB_ID'] !== undefined;
    const srun = isSrun ? ` For hosts to leave out, which is srun's -x, write --exclude ${text}.` : '';
    throw usage(`${option}: ${text} is not set here. Set it, or write ${text}=VALUE.${srun}`);
  }
  const isMatch = matcher([text]);
  const names = Object.keys(caller).filter((name) => isMatch(name) && !isReserved(name));
  if (names.length === 0) throw usage(`${option}: no variable here matches '${text}'.`);
  return names;
}

/** Whether a name fits one of the patterns, of which `*` and `?` stand for any characters and for one. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const sources = patterns.map((pattern) => {
    return pattern.replaceAll(/[.+^${}()|[\]\\]/gu, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
  });
  const pattern = new RegExp(`^(?:${sources.join('|')})$`, 'su');
  return (name) => sources.length > 0 && pattern.test(name);
}

function isReserved(name: string): boolean {
  return RESERVED_VARIABLES.includes(name);
}

function reserved(option: string, name: string): StciError {
  return usage(`${option}: ${name} is set by stcirun itself, for each rank its own. Choose another name.`);
}

function usage(text: string): StciError {
  return new StciError('STCI_USAGE', text);
}
