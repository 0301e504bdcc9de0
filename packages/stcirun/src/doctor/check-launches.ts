/** Checks hosts by a launcherproc of which nothing more is known than its contract, in a process of its own. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fromErrorRecord, StciError, type ErrorRecord, type HostSpec } from '@stci/interface';
import type { LaunchOptions } from '../library/options.js';
import { endGroup } from '../plugin/check/child-group.js';
import type { HostReport } from './check-host.js';
import { WINDOW } from './window.js';

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

const TEXT_CHARS_MAX = 64 * 1024 * 1024;
/** Beside what the hosts may take: its own start and end. */
const GRACE_MS = 20_000;

/** `root`: of this installation's stcirun. Rejects with StciError for what is wrong before anything is started. */
export function checkLaunches(root: string, asked: LaunchesToCheck): Promise<readonly HostReport[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'dist/doctor/launch-main.js')], {
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
      // A group of its own: what the launcher has started ends with it.
      detached: true,
    });
    const release = endGroup(child);
    const limitMs = Math.ceil(asked.hosts.length / WINDOW) * asked.deadlineMs + GRACE_MS;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, limitMs);
    child.stdin?.on('error', () => undefined).end(JSON.stringify(asked));
    let text = '';
    let said = '';
    const told = child.stdio[LAUNCHES_FD] as NodeJS.ReadableStream;
    told.setEncoding('utf8').on('data', (part: string) => {
      if (text.length <= TEXT_CHARS_MAX) text += part;
    });
    child.stderr?.setEncoding('utf8').on('data', (part: string) => (said = (said + part).slice(-SAID_CHARS_MAX)));
    child.on('error', reject);
    child.on('exit', release);
    child.on('close', (status, signal) => {
      clearTimeout(timer);
      release();
      const found = foundIn(text);
      if (found === undefined) {
        const how = isLate ? `did not end within ${limitMs} ms` : `ended (${signal ?? `exit code ${status}`})`;
        return reject(new StciError('STCI_PLUGIN_FAILED', `The process that starts agents by launcher `
          + `${asked.options.launcher} ${how} before it had told of all hosts. ${said.trim()}`));
      }
      if ('error' in found) reject(fromErrorRecord(found.error));
      else resolve(found.reports);
    });
  });
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
