/**
 * Problems of parameters are collected and reported together, so that a user corrects a file once, not line by line.
 * One error carries them all: its code is theirs where they agree, else STCI_PARAM_INVALID.
 */

import { StciError, defined } from '@stci/interface';
import type { ErrorCode } from '@stci/interface';

export interface ParamProblem {
  readonly code: Extract<ErrorCode, 'STCI_PARAM_UNKNOWN' | 'STCI_PARAM_INVALID' | 'STCI_PARAM_FILE'
    | 'STCI_MCA_COMPONENT_UNKNOWN'>;
  readonly message: string;
  /** Parameter or key, where one is concerned. */
  readonly name?: string;
  readonly value?: string;
  readonly source?: string;
  readonly origin?: string;
}

/** More are counted, not printed. */
export const PROBLEMS_SHOWN_MAX = 20;

/** The first `max` of the texts, and how many more there are. */
export function listed(texts: readonly string[], max = PROBLEMS_SHOWN_MAX): string[] {
  return texts.length <= max ? [...texts] : [...texts.slice(0, max), `and ${texts.length - max} more`];
}

/** The error of one or more problems; `data` holds their number and the facts of the first. */
export function problemsError(problems: readonly ParamProblem[]): StciError {
  const [first] = problems;
  if (first === undefined) throw new RangeError('Expected at least one problem');
  const same = problems.every((problem) => problem.code === first.code);
  const shown = listed(problems.map(({ message }) => message));
  const { name, value, source, origin } = first;
  return new StciError(same ? first.code : 'STCI_PARAM_INVALID', shown.join('\n'), {
    data: { problems: problems.length, ...defined({ name, value, source, origin }) },
  });
}

const QUOTED_MAX = 120;

/** Text from outside in quotation marks, safe and short enough for one line of a message. */
export function quote(text: string): string {
  const short = text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
  // JSON leaves these as they are, and a terminal may obey them.
  return JSON.stringify(short).replace(/[\u007f-\u009f\u2028\u2029]/g, escapeCode);
}

function escapeCode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The same without the marks. */
export function plain(text: string): string {
  return quote(text).slice(1, -1);
}
