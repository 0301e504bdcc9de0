/**
 * A launcherproc for tests that starts the agents of all hosts by one call, as processes of this machine: real agents,
 * from the bundle, that wait at 127.0.0.1. What starts them is this process; a host whose name is `bad` has none.
 */

import { createLocal } from '@stci/launcher-local';
import type { AgentGroup, AgentsEvents, AgentsStart, LauncherProc, Process } from '@stci/interface';
import type { NodePlatform } from '@stci/platform-node';

/** Takes what it needs from the first line of standard input, and runs the bundle as an agent that waits. */
const LOADER = `'use strict';
const fs = require('node:fs');
let line = '';
for (const byte of (function* () { const one = Buffer.alloc(1); while (fs.readSync(0, one) === 1) yield one[0]; })()) {
  if (byte === 10) break;
  line += String.fromCharCode(byte);
}
const { path, hash, key, waitMs } = JSON.parse(line);
const bytes = fs.readFileSync(path);
const say = (addresses) => void fs.writeSync(1, JSON.stringify(addresses) + '\\n');
const waits = { key: Buffer.from(key, 'hex'), interfaces: ['127.0.0.1'], waitMs, say };
const main = { exports: {} };
require('node:vm').compileFunction(
  bytes.latin1Slice(0, bytes.indexOf('\\n//\\n') + 1),
  ['require', 'module', 'exports', '__filename', '__dirname', 'stciShipped'], { filename: path },
)(require, main, main.exports, path, require('node:path').dirname(path), { hash, bytes, path, waits });
`;

/** `pids`: of the processes that were started, in order. */
export function createTogether(platform: NodePlatform, bundle: string): LauncherProc & { readonly pids: number[] } {
  const pids: number[] = [];
  const inline = (): never => {
    throw new Error('not inline');
  };
  return {
    ...createLocal({ platform, inline }),
    name: 'together',
    pids,
    startAll: (start, events) => startAll(platform, bundle, start, events, pids),
  };
}

function startAll(
  { processes, secrets, clock, env }: NodePlatform,
  path: string,
  { agents, waitMs }: AgentsStart,
  events: AgentsEvents,
  pids: number[],
): AgentGroup {
  const started: Process[] = [];
  let left = agents.length;
  let isKilled = false;
  const over = (): void => {
    left -= 1;
    if (left === 0) events.onOver();
  };
  const start = (name: string, index: number): void => {
    const key = secrets.bytes(32);
    let hasPlace = false;
    let line = '';
    const process = processes.spawn({
      program: name === 'bad' ? '/no/such/program' : globalThis.process.execPath, args: ['-e', LOADER],
      env: env.variables, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', lifetime: 'plain',
    }, {
      onError: (error) => {
        events.onFailed(index, error);
        over();
      },
      onOutput: (stream, chunk) => {
        const text = Buffer.from(chunk).toString();
        if (stream === 'stderr') return events.onDiagnostic(index, text.trimEnd());
        line += text;
        if (hasPlace || !line.endsWith('\n')) return;
        hasPlace = true;
        events.onPlace(index, { addresses: JSON.parse(line) as string[], key });
      },
      onOutputEnd: () => undefined,
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onExit: (end) => {
        if (hasPlace) events.onExit(index, end);
        else events.onFailed(index, { code: 'STCI_LAUNCH_FAILED', message: 'its process has ended' });
        over();
      },
    });
    process.readable(true);
    const order = { path, hash: processes.agentBundle().hash, key: Buffer.from(key).toString('hex'), waitMs };
    process.writeStdin(Buffer.from(`${JSON.stringify(order)}\n`));
    started.push(process);
    pids.push(process.pid);
    if (isKilled) process.signal('SIGKILL', 'process');
  };
  clock.soon(() => agents.forEach(({ host }, index) => start(host.name, index)));
  return {
    kill: () => {
      isKilled = true;
      for (const process of started) process.signal('SIGKILL', 'process');
    },
  };
}
