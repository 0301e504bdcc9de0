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
const maybeList = (...texts: readonly string[]): Check => (value) => value === undefined || (Array.isArray(value)
  && value.every((one) => object(one) && texts.every((name) => text((one as Record<string, unknown>)[name]))));

/** Fields without which a record says nothing, by its type. */
const FIELDS: Readonly<Record<HistoryRecord['type'], Readonly<Record<string, Check>>>> = {
  run: { format: number, experiment: object, shape: object, file: text, isSimulated: flag, isGolden: flag },
  repeat: { plan: (value) => object(value) && list((value as { injections?: unknown }).injections) },
  target: { repeat: number, session: text, job: number, hosts: list },
  clock: { repeat: number, clocks: list },
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

/** Never throws. `directory`: of the run, for messages. */
export function readHistory(directory: string, content: string): History & { readonly problems: readonly string[] } {
  const lines = content.split('\n');
  const rest = lines.pop() ?? '';
  const problems: string[] = [];
  const records: HistoryRecord[] = [];
  for (const [index, line] of lines.entries()) {
    const record = readLine(line);
    if (typeof record === 'string') problems.push(`history.jsonl:${index + 1}: ${record}; left out`);
    else records.push(record);
  }
  if (rest !== '') problems.push(`history.jsonl:${lines.length + 1}: the line is cut off; left out`);
  const [first] = records;
  if (first?.type !== 'run') problems.push('history.jsonl:1: the first record does not say what was run');
  const isCutOff = rest !== '' || records.at(-1)?.type !== 'run-end';
  return { directory, records, isCutOff, problems };
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
  if (typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) return `unknown type of record ${JSON.stringify(type)}`;
  const fields = { ...FIELDS[type as HistoryRecord['type']], wallMs: number, monotonicMs: number };
  const lacking = Object.entries(fields).find(([name, check]) => !check(record[name]));
  if (lacking !== undefined) return `the record of type ${type} has no proper '${lacking[0]}'`;
  if (type === 'run' && record['format'] !== HISTORY_FORMAT) {
    return `it has format ${String(record['format'])}, and this version reads ${HISTORY_FORMAT}`;
  }
  return value as unknown as HistoryRecord;
}
