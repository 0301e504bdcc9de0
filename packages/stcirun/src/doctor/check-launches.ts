/** Checks hosts by a launcherproc of which nothing more is known than its contract, in a process of its own. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fromErrorRecord, StciError, type ErrorRecord, type HostSpec } from '@stci/interface';
import type { LaunchOptions } from '../library/options.js';
import type { HostReport } from './check-host.js';

export interface LaunchesToCheck {
  readonly hosts: readonly HostSpec[];
  readonly options: Pick<LaunchOptions, 'launcher' | 'plugins' | 'params' | 'paramFiles'>;
  /** For each host. */
  readonly deadlineMs: number;
}

export type LaunchesFound = { readonly reports: readonly HostReport[] } | { readonly error: ErrorRecord };

/** On which that process tells what it has found. */
export const LAUNCHES_FD = 3;
const SAID_CHARS_MAX = 2000;

/** `root`: of this installation's stcirun. Rejects with StciError for what is wrong before anything is started. */
export function checkLaunches(root: string, asked: LaunchesToCheck): Promise<readonly HostReport[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'dist/doctor/launch-main.js')], {
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    child.stdin?.on('error', () => undefined).end(JSON.stringify(asked));
    let text = '';
    let said = '';
    const told = child.stdio[LAUNCHES_FD] as NodeJS.ReadableStream;
    told.setEncoding('utf8').on('data', (part: string) => (text += part));
    child.stderr?.setEncoding('utf8').on('data', (part: string) => (said = (said + part).slice(-SAID_CHARS_MAX)));
    child.on('error', reject);
    child.on('close', (status, signal) => {
      if (text === '') {
        const end = `ended (${signal ?? `exit code ${status}`}) before it had looked at all hosts`;
        return reject(new StciError('STCI_PLUGIN_FAILED', `The process that starts agents by launcher `
          + `${asked.options.launcher} ${end}. ${said.trim()}`));
      }
      const found = JSON.parse(text) as LaunchesFound;
      if ('error' in found) reject(fromErrorRecord(found.error));
      else resolve(found.reports);
    });
  });
}
