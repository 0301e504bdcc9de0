/**
 * The history as text: one JSON object a line. A reader takes what is there: a line that was cut off by the end of its
 * writer, or damaged later, is left out and told by its number, and what follows is read on.
 */

import { HISTORY_FORMAT, type History, type HistoryRecord } from './contracts.js';

/** One record and a newline. */
export function encodeRecord(record: HistoryRecord): string {
  return `${JSON.stringify(record)}\n`;
}

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number';
const flag: Check = (value) => typeof value === 'boolean';
const object: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const list: Check = Array.isArray;
const listOf = (...texts: readonly string[]): Check => (value) => value !== undefined && maybeList(...texts)(value);
const maybeList = (...texts: readonly string[]): Check => (value) => value === undefined || (Array.isArray(value)
  && value.every((one) => object(one) && texts.every((name) => text((one as Record<string, unknown>)[name]))));

/** Fields without which a record says nothing, by its type. */
const FIELDS: Readonly<Record<HistoryRecord['type'], Readonly<Record<string, Check>>>> = {
  run: { format: number, experiment: object, shape: object, file: text, isSimulated: flag, isGolden: flag,
    parameters: listOf('name'),
  },
  repeat: {
    plan: (value) => {
      const plan = object(value) ? value as Readonly<Record<string, unknown>> : {};
      return list(plan['injections']) && number(plan['repeat']) && number(plan['number'])
        && text(plan['configuration']);
    },
  },
  target: { repeat: number, session: text, job: number, hosts: list },
  clock: { repeat: number, clocks: listOf() },
  start: { repeat: number },
  event: { repeat: number, event: (value) => object(value) && text((value as { type?: unknown }).type) },
  output: { repeat: number, rank: number, stream: text, text, sourceWallMs: number },
  'output-full': { repeat: number },
  injection: { repeat: number, id: text, state: text, text },
  check: { repeat: number, name: text, phase: text, isPassed: flag, text },
  problem: { repeat: number, text },
  'repeat-end': {
    repeat: number, isTimeOut: flag, orphans: number, left: maybeList('host', 'command'),
    unknown: maybeList('host', 'reason'),
  },
  'run-end': { text },
};

/** The longest line that is read, characters: a repeat of hundreds of thousands of ranks and injections. */
export const LINE_CHARS_MAX = 1 << 27;
/** Length of what is quoted. */
const SHOWN_CHARS_MAX = 80;
/** Flaws that are told one by one. */
const PROBLEMS_MAX = 1000;

/** What a history is beside its records. */
export type HistoryState = Required<Pick<History, 'isCutOff' | 'problems'>>;

/** Never throws. `directory`: of the run, for messages; `content`: the text, in pieces of any size. */
export function readHistory(directory: string, content: Iterable<string>): History & HistoryState {
  const records: HistoryRecord[] = [];
  const state = readRecords(content, (record) => records.push(record));
  return { directory, records, ...state };
}

/** One record at a time, with its line: none is kept. Throws only what `onRecord` or `content` throws. */
export function readRecords(
  content: Iterable<string>, onRecord: (record: HistoryRecord, line: number) => void, lineCharsMax = LINE_CHARS_MAX,
): HistoryState {
  const problems: string[] = [];
  let [number, flaws] = [0, 0];
  let first: string | undefined;
  let last: string | undefined;
  const tell = (line: number, text: string): void => {
    flaws += 1;
    if (flaws <= PROBLEMS_MAX) problems.push(`history.jsonl:${line}: ${text}`);
  };
  const rest = splitLines(content, lineCharsMax, (line) => {
    number += 1;
    const record = line === undefined ? `the line has more than ${lineCharsMax} characters` : readLine(line);
    if (typeof record === 'string') return tell(number, `${record}; left out`);
    first ??= record.type;
    last = record.type;
    onRecord(record, number);
  });
  if (rest) tell(number + 1, 'the line is cut off; left out');
  if (first !== 'run') tell(1, 'the first record does not say what was run');
  if (flaws > PROBLEMS_MAX) problems.push(`${flaws - PROBLEMS_MAX} more lines are damaged`);
  return { isCutOff: rest || last !== 'run-end', problems };
}

/** True: the last line has no end. `onLine` gets undefined for one that is too long, of which nothing is kept. */
function splitLines(
  content: Iterable<string>, charsMax: number, onLine: (line: string | undefined) => void,
): boolean {
  let parts: string[] = [];
  let length = 0;
  for (const piece of content) {
    let from = 0;
    for (let end = piece.indexOf('\n'); ; end = piece.indexOf('\n', from)) {
      const part = piece.slice(from, end < 0 ? undefined : end);
      length += part.length;
      if (length <= charsMax) parts.push(part);
      else parts = [];
      if (end < 0) break;
      onLine(length > charsMax ? undefined : parts.join(''));
      parts = [];
      length = 0;
      from = end + 1;
    }
  }
  return length > 0;
}

/** The record, or what is wrong. */
function readLine(line: string): HistoryRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'the line is damaged (no JSON)';
  }
  if (!object(value)) return 'the line is no record (expected a JSON object)';
  const record = value as Record<string, unknown>;
  const { type } = record;
  if (typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) {
    const shown = typeof type === 'string' ? JSON.stringify(type.slice(0, SHOWN_CHARS_MAX)) : `(${typeof type})`;
    return `unknown type of record ${shown}`;
  }
  const fields = { ...FIELDS[type as HistoryRecord['type']], wallMs: number, monotonicMs: number };
  const lacking = Object.entries(fields).find(([name, check]) => !check(record[name]));
  if (lacking !== undefined) return `the record of type ${type} has no proper '${lacking[0]}'`;
  if (type === 'run' && record['format'] !== HISTORY_FORMAT) {
    return `it has format ${String(record['format'])}, and this version reads ${HISTORY_FORMAT}`;
  }
  return value as unknown as HistoryRecord;
}
