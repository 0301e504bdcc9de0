/** What tests of the library share: where its sessions are, and readers. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Job, JobEvent, LaunchOptions, StciError } from '@stci/stcirun';
import { assert } from '@stci/testkit';

const { NODE_EXTRA_CA_CERTS: _slow, STCI_SESSION: _outer, ...own } = process.env;

/** A directory of a test's own, and the environment in which its sessions and jobs are. */
export class LibraryPlace {
  readonly directory = mkdtempSync(join(tmpdir(), 'stci-library-'));
  readonly env = { ...own, STCI_MCA_session_directory: join(this.directory, 'sessions') };

  file(name: string): string {
    return join(this.directory, name);
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A line of shell as the program of one rank. */
export function shell(line: string): { readonly program: string; readonly args: readonly string[] } {
  return { program: 'sh', args: ['-c', line] };
}

/** All lines of standard output, by rank. */
export async function linesOf(job: Job): Promise<Record<number, string[]>> {
  const found: Record<number, string[]> = {};
  for await (const { rank, stream, line } of job.lines()) {
    if (stream === 'stdout') (found[rank] ??= []).push(line ?? '');
  }
  return found;
}

export async function eventsOf(job: Job): Promise<JobEvent[]> {
  const found: JobEvent[] = [];
  for await (const event of job.events) found.push(event);
  return found;
}

export async function rejected(promise: Promise<unknown>): Promise<StciError> {
  return promise.then(() => assert.unreachable('it was not rejected') as never, (thrown: StciError) => thrown);
}

/** From a JavaScript program: what the compiler would refuse. */
export const untyped = (options: unknown): LaunchOptions => options as LaunchOptions;
