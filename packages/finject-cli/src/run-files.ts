/** The files of a run, in its directory, and its record. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readHistory, type History } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { readBounded, readReason } from '@stci/stcirun/front-end';

export const RUN_FILES = {
  history: 'history.jsonl',
  report: 'report.html',
  summary: 'summary.json',
  injections: 'injections.csv',
  repeats: 'repeats.csv',
} as const;

/** The longest text that Node.js holds is hardly longer. */
const HISTORY_BYTES_MAX = 500 << 20;

/** The record of a run. Throws STCI_HISTORY_INVALID where there is none. */
export function readRun(directory: string): History {
  const path = join(directory, RUN_FILES.history);
  try {
    return readHistory(directory, readBounded(path, HISTORY_BYTES_MAX));
  } catch (thrown) {
    const remedy = existsSync(path) ? '' : ` Name the directory of a run, which finject run tells as 'record'.`;
    throw new StciError('STCI_HISTORY_INVALID', `${path} cannot be read: ${readReason(thrown)}.${remedy}`);
  }
}
