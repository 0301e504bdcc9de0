/** Names of sessions and of their jobs: `night` is a session, `night.3` the third job that it was given. */

import { didYouMean } from '@stci/core';
import { StciError, type JobId } from '@stci/interface';

/** No dot, which separates the job's number; no digit in front, so that a number alone is a job. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/u;

/** `--session none`: agents of the job's own, whatever STCI_SESSION says. */
export const NO_SESSION = 'none';

/** Throws STCI_USAGE. */
export function checkSessionName(name: string, option: string): string {
  if (name === NO_SESSION) throw new StciError('STCI_USAGE', `${option}: '${name}' stands for no session.`);
  if (NAME.test(name)) return name;
  throw new StciError('STCI_USAGE',
    `${option}: '${name}' is no name of a session: a letter, then up to 31 letters, digits, '-' and '_'.`);
}

export function isSessionName(name: string): boolean {
  return NAME.test(name);
}

/** The session that a name, or its beginning, stands for. `option`: where it is named. Throws STCI_SESSION_UNKNOWN. */
export function matchSession(wanted: string, names: readonly string[], option?: string): string {
  const [where, there] = option === undefined ? ['', 'There'] : [`${option}: `, 'there'];
  if (names.includes(wanted)) return wanted;
  const matches = names.filter((name) => wanted !== '' && name.startsWith(wanted));
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return only;
  if (matches.length > 1) {
    throw unknown(`${where}'${wanted}' may be any of ${matches.join(', ')}. Write more of the name.`);
  }
  const hint = didYouMean(wanted, names) || (names.length > 0 ? ` There are ${names.join(', ')}.` : '');
  throw unknown(`${where}${there} is no session '${wanted}'.${hint || " 'stci start' starts one."}`);
}

/** The session of a command that names none: the one that `STCI_SESSION` names, or the only one. */
export function defaultSession(named: string | undefined, names: readonly string[]): string {
  if (named !== undefined && named !== '') return matchSession(named, names, 'STCI_SESSION');
  const [only] = names;
  if (only === undefined) throw unknown("There is no session. 'stci start' starts one.");
  if (names.length === 1) return only;
  throw unknown(`There are ${names.length} sessions: ${names.join(', ')}. Name one, or set STCI_SESSION.`);
}

export interface JobName {
  /** undefined: the default session's. */
  readonly session: string | undefined;
  readonly job: JobId;
}

export function jobName(session: string, job: JobId): string {
  return `${session}.${job}`;
}

/** `night.3`, or `3`. Throws STCI_USAGE. */
export function parseJobName(text: string): JobName {
  const match = /^(?:([A-Za-z][A-Za-z0-9_-]{0,31})\.)?([1-9]\d{0,6})$/u.exec(text);
  if (match === null) {
    throw new StciError('STCI_USAGE', `'${text}' is no job: expected its number, such as 3, or night.3 of a session.`);
  }
  return { session: match[1], job: Number(match[2]) };
}

function unknown(text: string): StciError {
  return new StciError('STCI_SESSION_UNKNOWN', text);
}
