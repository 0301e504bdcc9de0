/** What agents of each role can do for a fault. */

import type { FaultAction, JobId, Position, Rank } from '@stci/interface';
import type { FaultHands } from './fault-site.js';
import type { AgentNode } from './node.js';
import type { ProgramPort } from './program-port.js';
import type { Tool } from './tool.js';

/** How long what was sent may take to leave before this process is killed. */
const FLUSH_MS = 200;
const FLUSH_PERIOD_MS = 2;

/** What a program stops by, unless it handles all but the first. */
const STOPPING: ReadonlySet<string> = new Set(['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU']);

type Signal = Extract<FaultAction, { readonly type: 'signal' }>;

interface Place {
  readonly node: AgentNode;
  /** The agent is all of its process. */
  readonly ownsProcess: boolean;
}

/** Of a session agent: the processes of ranks that run here, and the port of programs that use the client library. */
export function toolHands(
  { node, ownsProcess }: Place,
  toolOf: (rank: Rank) => Tool | undefined,
  programs: () => ProgramPort | undefined,
): FaultHands {
  /** Ranks that each injection has stopped. */
  const stopped = new Map<string, Map<Rank, Signal['whom']>>();
  return {
    signal: (action, { id }, done) => {
      const { ranks, signal, whom } = action;
      const those = stopped.get(id) ?? new Map<Rank, Signal['whom']>();
      stopped.set(id, those);
      for (const rank of ranks) {
        if (STOPPING.has(signal)) those.set(rank, whom);
        if (signal === 'SIGCONT') those.delete(rank);
      }
      const ended = ranks.filter((rank) => toolOf(rank)?.signal(signal, whom) !== true);
      done(ended.length === 0 ? undefined : `rank ${ended.join(', ')} does not run here any more`);
    },
    exit: ({ rank, status }, _order, done) => {
      const port = programs();
      const text = 'its program would have to use the client library: the job was started without --client';
      done(port === undefined ? `rank ${rank} cannot be told to end: ${text}` : port.exit(rank, status));
    },
    pause: ({ what, forMs }, _order, done) => {
      if (what === 'self') pauseSelf(node, ownsProcess, forMs, done);
      else done('a host is stopped by its root agent');
    },
    release: ({ id }) => {
      for (const [rank, whom] of stopped.get(id) ?? []) toolOf(rank)?.signal('SIGCONT', whom);
      stopped.delete(id);
    },
  };
}

export interface RootHandsInit extends Place {
  /** Its session agents. */
  readonly sessions: { kill(job?: JobId): string | undefined; signal(name: 'SIGSTOP' | 'SIGCONT'): void };
  /** This agent ends as by SIGKILL. */
  killSelf(): void;
}

/** Of a root agent. */
export function rootHands({ node, ownsProcess, sessions, killSelf }: RootHandsInit): FaultHands {
  return {
    ...linkHands(node),
    kill: ({ what }, { job }, done) => {
      if (what === 'session') return done(sessions.kill(job));
      afterFlush(node, () => {
        if (what === 'all') sessions.kill();
        killSelf();
      });
    },
    pause: ({ what, forMs }, _order, done) => {
      if (what === 'self') return pauseSelf(node, ownsProcess, forMs, done);
      sessions.signal('SIGSTOP');
      const go = (): void => sessions.signal('SIGCONT');
      pauseSelf(node, ownsProcess, forMs, (problem) => {
        if (problem !== undefined) go();
        else node.platform.clock.after(forMs, go);
        done(problem);
      });
    },
  };
}

/** Of the controller. */
export function controllerHands(node: AgentNode): FaultHands {
  return {
    ...linkHands(node),
    kill: ({ what }, _order, done) => {
      if (what !== 'self') return done(`the controller cannot kill '${what}'`);
      afterFlush(node, () => node.platform.processes.killSelf());
    },
    pause: ({ forMs }, _order, done) => pauseSelf(node, true, forMs, done),
  };
}

/** Of the controller and of root agents: at their links to each other. */
export function linkHands({ linkFaults }: AgentNode): FaultHands {
  /** By injection. */
  const impaired = new Map<string, Set<Position>>();
  return {
    impair: ({ peers, how }, { id }, done) => {
      const all = impaired.get(id) ?? new Set();
      impaired.set(id, all);
      for (const peer of peers) all.add(peer);
      linkFaults.impair(peers, how, id);
      done();
    },
    restore: ({ peers }, { id }, done) => {
      linkFaults.restore(peers, id);
      for (const peer of peers) impaired.get(id)?.delete(peer);
      done();
    },
    close: ({ peers }, _order, done) => {
      const count = linkFaults.close(peers);
      done(count > 0 ? undefined : 'there is no link to close');
    },
    release: ({ id }) => {
      const peers = impaired.get(id);
      if (impaired.delete(id)) linkFaults.restore([...(peers ?? [])], id);
    },
  };
}

function pauseSelf(
  { name, platform }: AgentNode, ownsProcess: boolean, forMs: number, done: (problem?: string) => void,
): void {
  if (ownsProcess) return platform.processes.stopSelf(forMs, (error) => done(error?.message));
  done(`${name} runs in the process of another agent, which would stop, too: start it as a process of its own `
    + '(launcher.root.method, launcher.session.method)');
}

/** When what was sent so far has left, or after a while. */
function afterFlush({ platform: { clock }, router }: AgentNode, call: () => void): void {
  const untilMs = clock.nowMs() + FLUSH_MS;
  const look = (): void => {
    const isQueued = (router.parentLink?.queuedBytes ?? 0) > 0;
    if (isQueued && clock.nowMs() < untilMs) clock.after(FLUSH_PERIOD_MS, look);
    else call();
  };
  clock.soon(() => clock.soon(look));
}
