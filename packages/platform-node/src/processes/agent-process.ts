/**
 * An agent in its own process: its standard input and output are the channel, its standard error is text for people. It
 * has its own session, so that Ctrl-C at the terminal reaches only stcirun, which then ends the job in order. The end
 * of its standard input tells it that its parent is gone.
 */

import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { assert } from '@stci/interface';
import type { AgentProcess, AgentProcessEvents, ErrorRecord } from '@stci/interface';
import { closedChannel } from '../channels/closed-channel.js';
import { lineSplitter } from '../channels/lines.js';
import { openChannelReader, takeHandle } from '../channels/sockets.js';
import { streamChannel } from '../channels/stream-channel.js';
import { builtin } from '../system/builtin.js';
import { setAside } from '../system/environment.js';
import { endAgentGroup } from './agent-group.js';

function startError(program: string, thrown: unknown): ErrorRecord {
  const error = thrown as NodeJS.ErrnoException;
  return {
    code: 'STCI_PROGRAM_SPAWN',
    message: `An agent process could not be started: ${program}: ${error.message}`,
    data: { program, errno: error.code ?? 'unknown' },
  };
}

function notStarted(program: string): AgentProcess {
  return { pid: 0, channel: closedChannel('stdio', program, `${program} could not be started`), kill: () => {} };
}

function watch(child: ChildProcess, stderr: Readable, events: AgentProcessEvents): void {
  const lines = lineSplitter((line) => events.onDiagnostic(line));
  stderr.on('data', (chunk: Uint8Array) => lines.push(chunk));
  stderr.on('end', () => lines.end());
  stderr.on('error', () => {});
  child.on('exit', (status, signal) => {
    const end = signal !== null ? { signal } : { status: status ?? 0 };
    // With the end of one process those of others are found that have ended since the system was last asked what can
    // be read: it is asked once more, and what they have said is told before.
    setImmediate(() => setImmediate(() => events.onExit(end)));
  });
  child.on('error', () => {});
}

/** How an agent starts. */
export interface AgentPlace {
  /** The command is this machine's agent itself, which starts nothing in its group but its guardian. */
  readonly isBare: boolean;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** undefined: that of this process. */
  readonly wdir: string | undefined;
}

function launch(command: readonly string[], { variables, wdir }: AgentPlace): ChildProcess {
  const [program, ...args] = command as [string, ...string[]];
  const env = setAside(variables);
  return builtin('node:child_process').spawn(program, args, { stdio: 'pipe', detached: true, env, cwd: wdir });
}

export function spawnAgentProcess(
  command: readonly string[],
  events: AgentProcessEvents,
  place: AgentPlace,
): AgentProcess {
  const program = command[0];
  // A launcher of anybody's calls it.
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) {
    const found = typeof command === 'string' ? `'${command as string}'` : 'something else';
    throw new TypeError('spawnAgent: expected its command to be a list of texts, such as '
      + `['nice', ...platform.processes.agentCommand], got ${found}`);
  }
  assert(program !== undefined, 'the command of an agent is not empty');
  let child: ChildProcess;
  try {
    child = launch(command, place);
  } catch (thrown) {
    process.nextTick(() => events.onError(startError(program, thrown)));
    return notStarted(program);
  }
  if (child.pid === undefined) {
    child.on('error', (thrown) => events.onError(startError(program, thrown)));
    return notStarted(program);
  }
  watch(child, child.stderr as Readable, events);
  const { pid } = child;
  let isOver = false;
  child.on('exit', () => {
    isOver = true;
    if (!place.isBare) endAgentGroup(pid, true);
  });
  const stdout = child.stdout as Readable;
  const source = takeHandle(stdout);
  const readable = source ? openChannelReader(source) : stdout;
  const writable = child.stdin as Writable;
  // At a child's end Node resumes all streams of this list, paused or not; paused ones must stay so.
  (child.stdio as unknown[]).fill(null);
  return {
    pid,
    channel: streamChannel({ kind: 'stdio', label: `process ${pid}`, readable, writable }),
    kill: () => {
      child.kill('SIGKILL');
      if (!place.isBare) endAgentGroup(pid, isOver);
    },
  };
}
