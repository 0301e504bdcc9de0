/** Jobs of a real Slurm on test hosts, by scripts of shell, for tests that share one set of hosts. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, patient } from '@stci/testkit';
import { up, type Hosts, type RunResult } from '@stci/testkit/hosts';
import { Job } from './ssh-jobs.js';

const LIMIT_MS = 60_000;

/** Lost hosts are down some 10 to 20 s later. With shorter bounds a busy machine loses hosts that live. */
const CONF = [
  ['SlurmdTimeout', 6], ['MessageTimeout', 4], ['TCPTimeout', 1], ['KillWait', 3],
].map(([name, seconds]) => `${name}=${Math.ceil(patient(Number(seconds)))}`);

/** The login side of a set with Slurm: scripts find `stcirun` and `stci` in PATH. */
export class SlurmSide {
  readonly hosts: Hosts;
  /** For files of the tests; removed at the end. */
  readonly directory: string;
  readonly #killed: string[] = [];

  private constructor(hosts: Hosts, directory: string) {
    this.hosts = hosts;
    this.directory = directory;
  }

  static async up(count: number): Promise<SlurmSide> {
    const directory = mkdtempSync(join(tmpdir(), 'stci-slurm-'));
    mkdirSync(join(directory, 'bin'));
    for (const name of ['stcirun', 'stci']) {
      const program = fileURLToPath(new URL(`../bin/${name}.cjs`, import.meta.url));
      writeFileSync(join(directory, 'bin', name), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`,
        { mode: 0o755 });
    }
    try {
      return new SlurmSide(await up(count, { slurm: { conf: CONF } }), directory);
    } catch (thrown) {
      rmSync(directory, { recursive: true, force: true });
      throw thrown;
    }
  }

  async down(): Promise<void> {
    await this.hosts.down();
    rmSync(this.directory, { recursive: true, force: true });
  }

  get #env(): Record<string, string> {
    return {
      HOME: this.hosts.loginHome, PATH: `${join(this.directory, 'bin')}:${process.env['PATH'] ?? ''}`,
      STCI_MCA_session_directory: join(this.directory, 'sessions'),
    };
  }

  /** A script of shell in an allocation. */
  salloc(options: string, script: string): Promise<RunResult> {
    return this.hosts.run(['salloc', '--quiet', ...options.split(' '), 'sh', '-c', script], {
      deadlineMs: LIMIT_MS, env: this.#env,
    });
  }

  /** The same, while something else is done. */
  start(options: string, script: string): Job {
    const argv = ['salloc', '--quiet', ...options.split(' '), 'sh', '-c', script] as const;
    return new Job(this.hosts.loginArgv([...argv], { env: this.#env }));
  }

  /** A script of shell on the login side. */
  run(script: string): Promise<RunResult> {
    return this.hosts.run(['sh', '-c', script], { deadlineMs: LIMIT_MS, env: this.#env });
  }

  /** A host, until the test's end. */
  async kill(host: string): Promise<void> {
    this.#killed.push(host);
    await this.hosts.kill(host);
  }

  /** Ends jobs that a failed test left, and starts the hosts that were killed. */
  async restore(): Promise<void> {
    for (const host of this.#killed.splice(0)) await this.hosts.start(host);
    await this.run('jobs=$(squeue --noheader --format=%i) && test -z "$jobs" || scancel --quiet $jobs');
  }

  /** No job, no step, no process of ours on any host, and all hosts idle. */
  async settled(): Promise<void> {
    let left = '';
    await eventually(async () => {
      const { stdout } = await this.hosts.run(['sh', '-c', 'squeue --noheader; squeue --noheader --steps']);
      const leftovers = [...this.hosts.allLeftovers()].map(([host, all]) =>
        `${host}: ${all.map(({ command }) => command).join(', ')}`);
      left = [stdout.trim(), ...leftovers].join('; ').replace(/^; /, '');
      return left === '';
    }, { deadlineMs: 40_000, everyMs: 100, what: 'nothing left of a job' })
      .catch((error: unknown) => assert.unreachable(`${String(error)}: ${left}`));
    await this.hosts.slurm.untilNodes(this.hosts.names, 'idle', 40_000);
  }
}

/** `h1 h1 h2`: the lines of an output, sorted. */
export function sorted(output: string): string {
  return output.trim().split('\n').sort().join(' ');
}
