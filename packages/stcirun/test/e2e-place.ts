/** Sessions of a test by the built programs, in a directory of their own; in the end nothing of them is left. */

import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SessionStatus } from '@stci/core/session';
import { assert, eventually } from '@stci/testkit';
import { sh, start, type Run, type RunOptions } from './e2e.js';

const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));

interface Said {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** Sessions of a test, in a directory of their own. */
export class Place {
  readonly directory = mkdtempSync(join(tmpdir(), 'stci-session-'));
  readonly env: Readonly<Record<string, string>> = { STCI_MCA_session_directory: join(this.directory, 'sessions') };

  stci(...args: string[]): Said {
    const env = { ...process.env, ...this.env };
    const { status, stdout, stderr } = spawnSync(process.execPath, [STCI, ...args], { encoding: 'utf8', env });
    return { exitCode: status, out: stdout, err: stderr };
  }

  /** A command that takes its time. */
  later(...args: string[]): Promise<Said> {
    const env = { ...process.env, ...this.env };
    return new Promise((resolve) => {
      execFile(process.execPath, [STCI, ...args], { env }, (error, out, err) => {
        resolve({ exitCode: error === null ? 0 : Number(error.code), out, err });
      });
    });
  }

  /** A session of two hosts with two slots each. */
  start(name: string, ...options: string[]): void {
    const said = this.stci('start', '--launcher', 'local', '--host', 'a:2,b:2', '--name', name, ...options);
    assert.equal([said.exitCode, said.out], [0, `${name}\n`], said.err);
  }

  /** A command that is looked at while it runs. */
  command(...args: string[]): Run {
    return start(args, { env: this.env, program: STCI });
  }

  run(session: string, args: readonly string[], options: RunOptions = {}): Run {
    return start(['--session', session, ...args], { ...options, env: { ...this.env, ...options.env } });
  }

  /** `stci attach`. */
  attach(...args: string[]): Run {
    return this.command('attach', ...args);
  }

  sessions(): readonly SessionStatus[] {
    return (JSON.parse(this.stci('ps', '--json').out) as { sessions: SessionStatus[] }).sessions;
  }

  session(): SessionStatus {
    return this.sessions()[0] as SessionStatus;
  }

  /** Its hosts, as the membership has them. */
  hosts(): string {
    return this.session().hosts.map(({ spec, state, isDraining, incarnation }) =>
      `${spec.name} ${isDraining ? 'draining' : state} ${incarnation}`).join();
  }

  states(): string {
    const rows = this.sessions().flatMap(({ name, jobs }) => jobs.map(({ job, state }) => `${name}.${job} ${state}`));
    return rows.join(', ');
  }

  /** Processes of the only session's agents, by host. */
  async agents(session: string): Promise<Map<string, number>> {
    const { out, err } = await this.run(session, ['--ppn', '1', ...sh('echo $STCI_HOST $PPID')]).result;
    assert.is(err, '');
    const pairs = out.trim().split('\n').map((line) => line.split(' ') as [string, string]);
    return new Map(pairs.map(([host, pid]) => [host, Number(pid)]));
  }

  /** Nothing is left: neither sessions nor processes. */
  async close(): Promise<void> {
    for (const name of this.names()) this.stci('stop', name);
    const left = this.names();
    await soon(() => this.#processes() === 0, 'the end of all agents');
    rmSync(this.directory, { recursive: true });
    assert.equal(left, []);
  }

  #processes(): number {
    return readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(this.directory);
      } catch {
        return false;
      }
    }).length;
  }

  /** Directories of sessions. */
  names(): string[] {
    const { STCI_MCA_session_directory: directory = '' } = this.env;
    // A file `.s1` keeps the last name that was given, a directory `.gone-…` what is left of a session that was killed.
    return existsSync(directory) ? readdirSync(directory).filter((name) => !/^\.(?:s\d+$|gone-)/u.test(name)) : [];
  }
}

export function withPlace(body: (place: Place) => Promise<void>): () => Promise<void> {
  return async () => {
    const place = new Place();
    try {
      await body(place);
    } finally {
      await place.close();
    }
  };
}

export const soon = (condition: () => boolean, what: string): Promise<unknown> =>
  eventually(condition, { deadlineMs: 60_000, what });

export const LONG = { timeoutMs: 240_000 };
