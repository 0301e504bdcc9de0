/** What agents of each role can do for a fault. */

import type { AgentNode } from '../node/node.js';
import type { Place, RootPlace, SessionPlace } from '../service/contracts.js';
import type { FaultActions, Injection } from './fault-site.js';

/** How long what was sent may take to leave before this process is killed or stopped. */
const FLUSH_MS = 200;
/** Interval at which queues are looked at, at most 100 times a fault: links tell of room, and not of an empty queue. */
const FLUSH_PERIOD_MS = 2;

/** So long the controller goes on after it has told of its own end: links of sessions are not its router's. */
const LAST_REPORT_MS = 20;

/** What a program stops by, unless it handles all but the first. */
const STOPPING: ReadonlySet<string> = new Set(['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU']);

type Self = Pick<Place, 'node' | 'ownsProcess'>;

type Done = (problem?: string) => void;

/**
 * An agent is stopped. It is told before: a report that came when it goes on would have the wrong time. `first` is
 * carried out when it is certain that this agent will go on.
 */
function pauseSelf(
  { node, ownsProcess }: Self, { holds }: Injection, forMs: number, done: Done,
  first: (then: Done) => void = (then) => then(),
): void {
  if (!ownsProcess) {
    return done(`${node.name} runs in the process of another agent, which would stop, too: start it as a process of `
      + 'its own (launcher.root.method, launcher.session.method)');
  }
  node.platform.processes.stopSelf(forMs, (error, go) => {
    if (error !== undefined) return done(error.message);
    if (holds.isClosed) return go(false);
    first((problem) => {
      const isWanted = problem === undefined && !holds.isClosed;
      done(problem);
      if (isWanted) afterFlush(node, () => go(!holds.isClosed));
      else go(false);
    });
  });
}

/** Of a session agent: the processes of ranks that run here. */
export function toolActions(place: Omit<SessionPlace, 'scope'>): FaultActions {
  /** Of each rank that an injection has stopped: that it goes on at the end is forgotten. */
  const stopped = new Map<string, () => void>();
  return {
    signal: ({ ranks, signal, whom }, { order, holds }, done) => {
      const stops = STOPPING.has(signal);
      for (const key of stops || signal === 'SIGCONT' ? ranks.map((rank) => `${order.id} ${rank}`) : []) {
        stopped.get(key)?.();
        stopped.delete(key);
      }
      for (const rank of stops ? ranks : []) {
        const key = `${order.id} ${rank}`;
        stopped.set(key, holds.atEnd(() => {
          stopped.delete(key);
          place.toolOf(rank)?.signal('SIGCONT', whom);
        }));
      }
      const ended = ranks.filter((rank) => place.toolOf(rank)?.signal(signal, whom) !== true);
      done(ended.length === 0 ? undefined : `rank ${ended.join(', ')} does not run here any more`);
    },
    exit: ({ rank, status }, _fault, done) => done(place.exit(rank, status)),
    pause: ({ what, forMs }, fault, done) =>
      (what === 'self' ? pauseSelf(place, fault, forMs, done) : done('a host is stopped by its root agent')),
  };
}

/** Of a root agent. */
export function rootActions({ node, ownsProcess, sessions, killSelf }: Omit<RootPlace, 'scope'>): FaultActions {
  return {
    ...linkActions(node),
    kill: ({ what }, { order: { job } }, done) => {
      if (what === 'session') return done(sessions.kill(job));
      afterFlush(node, () => {
        if (what === 'all') sessions.kill();
        killSelf();
      });
    },
    pause: ({ what, forMs }, fault, done) => {
      const { order: { timeoutMs }, holds } = fault;
      const stopTools = (then: Done): void => {
        holds.atEnd(() => sessions.signal('SIGCONT', timeoutMs, () => undefined));
        sessions.signal('SIGSTOP', timeoutMs, then);
      };
      pauseSelf({ node, ownsProcess }, fault, forMs, done, what === 'self' ? undefined : stopTools);
    },
  };
}

/** Of the controller. */
export function controllerActions(node: AgentNode): FaultActions {
  return {
    ...linkActions(node),
    kill: ({ what }, _fault, done) => {
      if (what !== 'self') return done(`the controller cannot kill '${what}'`);
      const { clock, processes } = node.platform;
      clock.after(LAST_REPORT_MS, () => afterFlush(node, () => processes.killSelf()));
    },
    pause: ({ forMs }, fault, done) => pauseSelf({ node, ownsProcess: true }, fault, forMs, done),
  };
}

/** Of the controller and of root agents: at their links to each other. */
export function linkActions({ linkFaults }: AgentNode): FaultActions {
  /** Of each fault and its peers: that they are restored at the end is held once, however often they are impaired. */
  const impaired = new Map<string, () => void>();
  return {
    impair: ({ peers, how }, { order: { id }, holds }, done) => {
      const key = `${id} ${String(peers)}`;
      impaired.get(key)?.();
      impaired.set(key, holds.atEnd(() => {
        impaired.delete(key);
        linkFaults.restore(peers, id);
      }));
      linkFaults.impair(peers, how, id);
      done();
    },
    restore: ({ peers }, { order: { id } }, done) => {
      linkFaults.restore(peers, id);
      done();
    },
    close: ({ peers }, _fault, done) => {
      const count = linkFaults.close(peers);
      done(count > 0 ? undefined : 'there is no link to close');
    },
  };
}

/** When what was sent so far has left, or after a while. The controller reports to those below it. */
function afterFlush({ platform: { clock }, router }: AgentNode, call: () => void): void {
  const untilMs = clock.nowMs() + FLUSH_MS;
  const look = (): void => {
    const links = router.parentLink === undefined ? router.links() : [router.parentLink];
    const isQueued = links.some(({ queuedBytes }) => queuedBytes > 0);
    if (isQueued && clock.nowMs() < untilMs) clock.after(FLUSH_PERIOD_MS, look);
    else call();
  };
  clock.soon(() => clock.soon(look));
}
