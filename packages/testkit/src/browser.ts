/**
 * A real browser for pages that are made: Chromium without a window, as Debian's package `chromium` has it. Nothing is
 * fetched: every name resolves to nothing, and what a page tried is in its log.
 */

import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { patient } from '@stci/compliance/patience';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const DEADLINE_MS = 60_000;
const OUTPUT_MAX = 64 * 1024 * 1024;

export interface PageRun {
  /** The document after it was rendered, as markup. */
  readonly dom: string;
  /** What the page's console and policy said, and requests that were made. */
  readonly log: string;
}

/** Path of a browser; undefined: none is installed (Debian: chromium). */
export function findBrowser(): string | undefined {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of NAMES) {
      try {
        accessSync(join(directory, name), constants.X_OK);
        return join(directory, name);
      } catch {
        // Not here.
      }
    }
  }
  return undefined;
}

export interface BrowserOptions {
  readonly width?: number;
  readonly height?: number;
  readonly isDark?: boolean;
}

/** Renders a page. */
export async function renderPage(browser: string, page: string, options: BrowserOptions = {}): Promise<PageRun> {
  return inDirectory(async (directory) => {
    const { stdout, stderr } = await run(browser, page, directory, options, ['--dump-dom']);
    // Chromium itself complains of the system (no D-Bus, no GPU); the page's own words are marked.
    const log = stderr.split('\n').filter((line) => line.includes(':CONSOLE')).join('\n');
    return { dom: stdout, log };
  });
}

/** A picture of a page, as PNG into `path`. */
export async function takePicture(
  browser: string, page: string, path: string, options: BrowserOptions = {},
): Promise<void> {
  await inDirectory((directory) =>
    run(browser, page, directory, options, [`--screenshot=${path}`, '--hide-scrollbars']));
}

async function inDirectory<T>(act: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'stci-browser-'));
  try {
    return await act(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function run(
  browser: string, page: string, directory: string, { width = 1200, height = 1000, isDark = false }: BrowserOptions,
  more: readonly string[],
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const file = join(directory, 'page.html');
  writeFileSync(file, page);
  const child = spawn(browser, [
    // The sandbox needs user namespaces, which containers and root do not have; the page is ours.
    '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--host-resolver-rules=MAP * ~NOTFOUND',
    `--user-data-dir=${join(directory, 'profile')}`, '--enable-logging=stderr', `--window-size=${width},${height}`,
    ...(isDark ? ['--blink-settings=preferredColorScheme=0'] : ['--blink-settings=preferredColorScheme=1']),
    ...more, pathToFileURL(file).href,
  ], { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: directory, LC_ALL: 'C.UTF-8' }
    });
  return new Promise((resolve, reject) => {
    const chunks = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8');
      child[name].on('data', (text: string) => {
        if (chunks[name].length < OUTPUT_MAX) chunks[name] += text;
      });
    }
    const endAll = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All have ended.
      }
    };
    const timer = setTimeout(endAll, patient(DEADLINE_MS));
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(timer);
      endAll();
      if (status === 0) resolve(chunks);
      else reject(new Error(`${browser} ended with ${status ?? 'SIGKILL'}:\n${chunks.stderr.slice(-2000)}`));
    });
  });
}
