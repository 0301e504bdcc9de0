/** A session of stand-in hosts in a directory of its own: commands in it, its processes, samples of what they take. */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../run.mjs';

const NAME = 'soak';
const POLL_MS = 100;
const SETTLED_DEADLINE_MS = 30_000;
/** So long nothing has changed. */
const SETTLED_MS = 600;
const COMMAND_DEADLINE_MS = 120_000;

const bin = (name) => join(root, 'packages/stcirun/bin', `${name}.cjs`);

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // It has ended.
  }
}

function descriptors(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

const rssOf = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;

export class SoakSession {
  #directory = mkdtempSync(join(tmpdir(), 'stci-soak-'));
  #probe = join(this.#directory, 'probe');
  #files = join(this.#directory, 'files');
  #env = {
    ...process.env, TMPDIR: this.#files, XDG_RUNTIME_DIR: '', STCI_MCA_session_directory: join(this.#files, 'sessions'),
  };
  #pid = 0;
  /** Process of the root agent of each host that lives. */
  #agents = new Map();

  async start(hosts) {
    mkdirSync(this.#files, { mode: 0o700 });
    const names = Array.from({ length: hosts }, (_, i) => `h${i + 1}`);
    const probe = join(root, 'scripts/lib/soak/memory-probe.cjs');
    const env = { ...this.#env, NODE_OPTIONS: `--require ${JSON.stringify(probe)}`, STCI_SOAK_PROBE: this.#probe };
    const list = names.map((name) => `${name}:1024`).join();
    await this.#stci(['start', '--launcher', 'local', '--host', list, '--name', NAME], env);
    this.#pid = JSON.parse(read(join(this.#files, 'sessions', NAME, 'session.json'))).process.pid;
    const { events } = await this.run(['-n', String(hosts), '--map-by', 'node', 'sh', '-c', 'echo $PPID']);
    for (const { type, host, line } of events) if (type === 'output') this.#agents.set(host, Number(line));
  }

  /** A job: its exit code, and its events and output. */
  async run(args) {
    const { status, out, err } = await this.#node(bin('stcirun'), ['--session', NAME, '--json', ...args], this.#env);
    return { status, err, events: out.split('\n').slice(0, -1).map((line) => JSON.parse(line)) };
  }

  /** The exit codes of the jobs that the session still has, by their numbers. */
  async exitCodes() {
    const [session] = JSON.parse(await this.#stci(['ps', '--json'])).sessions;
    return new Map(session.jobs.filter(({ state }) => state === 'ended').map(({ job, exitCode }) => [job, exitCode]));
  }

  get hosts() {
    return [...this.#agents.keys()];
  }

  /** Kills the agent of a host. */
  kill(host) {
    const pid = this.#agents.get(host);
    this.#agents.delete(host);
    process.kill(pid, 'SIGKILL');
  }

  /** What the session takes when all jobs have ended and no process comes or goes. */
  async sample(jobs) {
    await this.#settled();
    rmSync(this.#probe, { force: true });
    process.kill(this.#pid, 'SIGUSR2');
    await until(() => existsSync(this.#probe), 'the memory of the session');
    const { heapUsed, external, rss } = JSON.parse(read(this.#probe));
    const agents = [...this.#agents.values()].map((pid) => [pid, { rss: rssOf(pid), descriptors: descriptors(pid) }]);
    return {
      jobs, heap: heapUsed + external, rss, descriptors: descriptors(this.#pid), processes: this.#processes().length,
      files: readdirSync(this.#files, { recursive: true }).length, agents: new Map(agents),
    };
  }

  /** What its processes have said. */
  get log() {
    return read(join(this.#files, 'sessions', NAME, 'log'));
  }

  /** Ends it. Texts of what is left. */
  async stop() {
    await this.#stci(['stop', NAME]);
    await until(() => this.#processes().length === 0, '').catch(() => undefined);
    const left = this.#processes().map((pid) => `process ${pid} is left: ${read(`/proc/${pid}/comm`)}`);
    const files = readdirSync(join(this.#files, 'sessions')).map((name) => `file ${name} is left`);
    rmSync(this.#directory, { recursive: true });
    return [...left, ...files];
  }

  /** Processes of the session, tools included; not the commands that this process runs. */
  #processes() {
    const isOwn = (pid) => /^\d+$/.test(pid) && read(`/proc/${pid}/environ`).includes(this.#files);
    return readdirSync('/proc').filter(isOwn);
  }

  async #settled() {
    let [before, sinceMs] = ['', performance.now()];
    await until(() => {
      const now = this.#processes().map((pid) => `${pid}:${descriptors(pid)}`).join();
      if (now !== before) [before, sinceMs] = [now, performance.now()];
      return performance.now() - sinceMs >= SETTLED_MS;
    }, 'the end of all tools');
  }

  async #stci(args, env = this.#env) {
    const { status, out, err } = await this.#node(bin('stci'), args, env);
    if (status !== 0) throw new Error(`stci ${args.join(' ')} ended with ${status}: ${err}`);
    return out;
  }

  #node(program, args, env) {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
      const deadline = setTimeout(() => child.kill('SIGKILL'), COMMAND_DEADLINE_MS);
      const text = { out: '', err: '' };
      child.stdout.setEncoding('utf8').on('data', (chunk) => (text.out += chunk));
      child.stderr.setEncoding('utf8').on('data', (chunk) => (text.err += chunk));
      child.on('error', reject);
      child.on('close', (status) => {
        clearTimeout(deadline);
        resolve({ status, ...text });
      });
    });
  }
}

async function until(condition, what) {
  const deadlineMs = performance.now() + SETTLED_DEADLINE_MS;
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error(`waited in vain for ${what}`);
    await sleep(POLL_MS);
  }
}
