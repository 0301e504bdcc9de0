/** Checks hosts by a launcherproc of which nothing more is known than its contract, in a process of its own. */

import { join } from 'node:path';
import { fromErrorRecord, StciError, type ErrorRecord, type HostSpec } from '@stci/interface';
import type { LaunchOptions } from '../library/options.js';
import { runScript } from '../plugin/check/run-script.js';
import type { HostReport } from './check-host.js';
import { WINDOW } from './window.js';

export interface LaunchesToCheck {
  readonly hosts: readonly HostSpec[];
  readonly options: Pick<LaunchOptions, 'launcher' | 'plugins' | 'params' | 'paramFiles'>;
  /** For each host. */
  readonly deadlineMs: number;
}

export type LaunchesFound = { readonly reports: readonly HostReport[] } | { readonly error: ErrorRecord };

const TEXT_CHARS_MAX = 64 * 1024 * 1024;
/** Beside what the hosts may take: its own start and end. */
const GRACE_MS = 20_000;

/** `root`: of this installation's stcirun. Rejects with StciError for what is wrong before anything is started. */
export async function checkLaunches(root: string, asked: LaunchesToCheck): Promise<readonly HostReport[]> {
  const limitMs = Math.ceil(asked.hosts.length / WINDOW) * asked.deadlineMs + GRACE_MS;
  let text = '';
  const { how, said } = await runScript({
    path: join(root, 'dist/doctor/launch-main.js'),
    input: JSON.stringify(asked),
    limitMs: () => limitMs,
    read: (told) => told.setEncoding('utf8').on('data', (part: string) => {
      if (text.length <= TEXT_CHARS_MAX) text += part;
    }),
  });
  const found = foundIn(text);
  if (found === undefined) {
    const end = how === undefined ? `did not end within ${limitMs} ms` : `ended (${how})`;
    throw new StciError('STCI_PLUGIN_FAILED', `The process that starts agents by launcher ${asked.options.launcher} `
      + `${end} before it had told of all hosts. ${said}`);
  }
  if ('error' in found) throw fromErrorRecord(found.error);
  return found.reports;
}

/** The launcher's code may write there, too, and end the process. */
function foundIn(text: string): LaunchesFound | undefined {
  try {
    const found = JSON.parse(text) as LaunchesFound | null;
    return found !== null && ('reports' in found || 'error' in found) ? found : undefined;
  } catch {
    return undefined;
  }
}
