/** Fake processes: calls of the tool agent are logged, and the test calls the events. */

import type { Platform, Process, ProcessEvents, SpawnSpec } from '@stci/interface';
import { Scope } from '../../dist/event/scope.js';
import { Tool, type ToolEnd } from '../../dist/tools/tool.js';
import { testPlace, type TestPlace } from '../world.js';

export interface FakeProcess extends Process {
  readonly events: ProcessEvents;
  /** Signals, reading and closing, in order. */
  readonly log: string[];
  /** Living members of its group. */
  group: number;
  /** What `writeStdin` answers. */
  room: boolean;
}

export const SPAWN: SpawnSpec = {
  program: 'p', args: [], env: {}, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', lifetime: 'guarded',
};

export function fakeProcess(pid: number, events: ProcessEvents): FakeProcess {
  const log: string[] = [];
  const fake: FakeProcess = {
    pid,
    events,
    log,
    group: pid > 0 ? 1 : 0,
    room: true,
    signal: (name, whom) => (log.push(`${name} ${whom}`), fake.group > 0),
    groupSize: () => fake.group,
    groupMembers: () => [7, 8].slice(0, fake.group),
    writeStdin: (chunk) => (log.push(`write ${String.fromCharCode(...chunk)}`), fake.room),
    closeStdin: () => void log.push('close stdin'),
    hasReadInput: () => false,
    readable: (on) => void log.push(on ? 'read' : 'pause'),
    closeOutput: () => void log.push('close output'),
  };
  return fake;
}

export interface Playing extends TestPlace {
  readonly tool: Tool;
  /** Of its rank. */
  readonly holds: Scope;
  readonly process: FakeProcess;
  /** Events of the tool agent, in order. */
  readonly told: string[];
  readonly ends: ToolEnd[];
}

export const GRACE_MS = 1000;
export const DRAIN_MS = 300;

/** A tool that was started, as `pid`; 0: a start that will fail. */
export function play(pid = 7, place: TestPlace = testPlace()): Playing {
  let process: FakeProcess | undefined;
  const told: string[] = [];
  const ends: ToolEnd[] = [];
  const platform: Platform = {
    ...place.platform,
    processes: {
      ...place.platform.processes,
      spawn: (_spec, events) => (process = fakeProcess(pid, events)),
    },
  };
  const holds = new Scope('agent');
  const tool = new Tool(
    { platform, holds, rank: 3, attempt: 1, spawn: SPAWN, graceMs: GRACE_MS, drainMs: DRAIN_MS },
    {
      onStarted: () => void told.push('started'),
      onOutput: (_tool, stream, chunk) => void told.push(`${stream} ${chunk.length}`),
      onOutputEnd: (_tool, stream) => void told.push(`${stream} end`),
      onEnded: (_tool, end) => {
        told.push(`ended ${end.outcome}`);
        ends.push(end);
      },
      onGone: () => void told.push('gone'),
      onStdinDrain: () => void told.push('drain'),
      onStdinClosed: () => void told.push('stdin closed'),
    },
  );
  tool.start();
  return { ...place, tool, holds, process: process as unknown as FakeProcess, told, ends };
}
