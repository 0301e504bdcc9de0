/** The files of a run, in its directory, and its record, which is read piece by piece: it may be of any size. */

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { readRecords, RunJudge, type History, type HistoryRecord, type ReportRun } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { holdDirectory, type HeldDirectory } from '@stci/platform-node';
import { OPEN_FLAGS, readReason } from '@stci/stcirun/front-end';
import { withinLimit } from './within-limit.js';

export const RUN_FILES = {
  history: 'history.jsonl',
  report: 'report.html',
  summary: 'summary.json',
  injections: 'injections.csv',
  repeats: 'repeats.csv',
} as const;

const CHUNK_BYTES = 1 << 20;

/** Holds the directory of a run: what is written beside its record goes where that was read. Throws as readRun. */
export function holdRun(path: string): HeldDirectory {
  try {
    return holdDirectory(path);
  } catch (thrown) {
    throw unreadable(join(path, RUN_FILES.history), thrown, (thrown as NodeJS.ErrnoException).code !== 'EMFILE');
  }
}

/** Records of a run, of these types or all, and the line of each. Throws STCI_HISTORY_INVALID where there is none. */
export function readRun(
  directory: string, types?: readonly HistoryRecord['type'][],
): History & { readonly lines: readonly number[] } {
  const records: HistoryRecord[] = [];
  const lines: number[] = [];
  const state = eachRecord(directory, (record, line) => {
    if (types?.includes(record.type) === false) return;
    records.push(record);
    lines.push(line);
  });
  return { directory, records, lines, ...state };
}

/**
 * Judged again, a repeat at a time: of its record is kept what a report shows. Throws STCI_HISTORY_INVALID where there
 * is none.
 */
export function judgeRun({ path, at }: Pick<HeldDirectory, 'path' | 'at'>): ReportRun {
  const judge = new RunJudge(path, withinLimit);
  const { isCutOff, problems } = eachRecord(path, (record) => judge.add(record), at);
  return { history: { ...judge.history(isCutOff), problems }, summary: judge.summary(isCutOff) };
}

/** `at`: what leads to the directory, where that is held. */
function eachRecord(
  directory: string, onRecord: (record: HistoryRecord, line: number) => void, at = directory,
): ReturnType<typeof readRecords> {
  const path = join(at, RUN_FILES.history);
  try {
    return readRecords(textOf(path), onRecord);
  } catch (thrown) {
    throw unreadable(join(directory, RUN_FILES.history), thrown, !existsSync(path));
  }
}

function unreadable(path: string, thrown: unknown, isMissing: boolean): StciError {
  const remedy = isMissing ? ` Name the directory of a run, which finject run tells as 'record'.` : '';
  return new StciError('STCI_HISTORY_INVALID', `${path} cannot be read: ${readReason(thrown)}.${remedy}`);
}

function* textOf(path: string): Generator<string> {
  const fd = openSync(path, OPEN_FLAGS);
  try {
    if (!fstatSync(fd).isFile()) throw new Error('it is no regular file');
    const decoder = new StringDecoder('utf8');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let count = readSync(fd, chunk); count > 0; count = readSync(fd, chunk)) {
      yield decoder.write(chunk.subarray(0, count));
    }
    yield decoder.end();
  } finally {
    closeSync(fd);
  }
}
