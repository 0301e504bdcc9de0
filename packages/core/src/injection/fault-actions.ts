/** What agents of each role can do for a fault. */

import { entryOf } from '@stci/interface';
import type { FaultAction, FaultOrder, Position, Rank } from '@stci/interface';
import type { AgentNode } from '../node/node.js';
import type { Place, RootPlace, SessionPlace } from '../service/contracts.js';
import type { FaultActions } from './fault-site.js';

/** How long what was sent may take to leave before this process is killed or stopped. */
const FLUSH_MS = 200;
/** Interval at which queues are looked at, at most 100 times a fault: links tell of room, and not of an empty queue. */
const FLUSH_PERIOD_MS = 2;

/** So long the controller goes on after it has told of its own end: links of sessions are not its router's. */
const LAST_REPORT_MS = 20;

/** What a program stops by, unless it handles all but the first. */
const STOPPING: ReadonlySet<string> = new Set(['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU']);

type Signal = Extract<FaultAction, { readonly type: 'signal' }>;

type Self = Pick<Place, 'node' | 'ownsProcess'>;

type Done = (problem?: string) => void;

/** An agent is stopped. It is told before: a report that came when it goes on would have the wrong time. */
class SelfPause {
  readonly #place: Self;
  /** Injections that are not over. */
  readonly #open = new Set<string>();

  constructor(place: Self) {
    this.#place = place;
  }

  /** `first` is carried out when it is certain that this agent will go on. */
  pause({ id }: FaultOrder, forMs: number, done: Done, first: (then: Done) => void = (then) => then()): void {
    const { node, ownsProcess } = this.#place;
    if (!ownsProcess) {
      return done(`${node.name} runs in the process of another agent, which would stop, too: start it as a process of `
        + 'its own (launcher.root.method, launcher.session.method)');
    }
    this.#open.add(id);
    node.platform.processes.stopSelf(forMs, (error, go) => {
      if (error !== undefined) return done(error.message);
      if (!this.#open.has(id)) return go(false);
      first((problem) => {
        const isWanted = problem === undefined && this.#open.has(id);
        done(problem);
        if (isWanted) afterFlush(node, () => go(this.#open.has(id)));
        else go(false);
      });
    });
  }

  release({ id }: FaultOrder): void {
    this.#open.delete(id);
  }
}

/** Of a session agent: the processes of ranks that run here. */
export function toolActions(place: Omit<SessionPlace, 'scope'>): FaultActions {
  const self = new SelfPause(place);
  /** Ranks that each injection has stopped. */
  const stopped = new Map<string, Map<Rank, Signal['whom']>>();
  return {
    signal: (action, { id }, done) => {
      const { ranks, signal, whom } = action;
      const those = entryOf(stopped, id, () => new Map<Rank, Signal['whom']>());
      for (const rank of ranks) {
        if (STOPPING.has(signal)) those.set(rank, whom);
        if (signal === 'SIGCONT') those.delete(rank);
      }
      const ended = ranks.filter((rank) => place.toolOf(rank)?.signal(signal, whom) !== true);
      done(ended.length === 0 ? undefined : `rank ${ended.join(', ')} does not run here any more`);
    },
    exit: ({ rank, status }, _order, done) => done(place.exit(rank, status)),
    pause: ({ what, forMs }, order, done) => {
      if (what === 'self') self.pause(order, forMs, done);
      else done('a host is stopped by its root agent');
    },
    release: (order) => {
      const { id } = order;
      self.release(order);
      for (const [rank, whom] of stopped.get(id) ?? []) place.toolOf(rank)?.signal('SIGCONT', whom);
      stopped.delete(id);
    },
  };
}

/** Of a root agent. */
export function rootActions({ node, ownsProcess, sessions, killSelf }: Omit<RootPlace, 'scope'>): FaultActions {
  const links = linkActions(node);
  const self = new SelfPause({ node, ownsProcess });
  /** Injections that have stopped the tools. */
  const stopped = new Set<string>();
  return {
    ...links,
    kill: ({ what }, { job }, done) => {
      if (what === 'session') return done(sessions.kill(job));
      afterFlush(node, () => {
        if (what === 'all') sessions.kill();
        killSelf();
      });
    },
    pause: ({ what, forMs }, order, done) => {
      if (what === 'self') return self.pause(order, forMs, done);
      self.pause(order, forMs, done, (then) => {
        stopped.add(order.id);
        sessions.signal('SIGSTOP', order.timeoutMs, then);
      });
    },
    release: (order) => {
      links.release?.(order);
      self.release(order);
      if (stopped.delete(order.id)) sessions.signal('SIGCONT', order.timeoutMs, () => undefined);
    },
  };
}

/** Of the controller. */
export function controllerActions(node: AgentNode): FaultActions {
  const links = linkActions(node);
  const self = new SelfPause({ node, ownsProcess: true });
  return {
    ...links,
    kill: ({ what }, _order, done) => {
      if (what !== 'self') return done(`the controller cannot kill '${what}'`);
      const { clock, processes } = node.platform;
      clock.after(LAST_REPORT_MS, () => afterFlush(node, () => processes.killSelf()));
    },
    pause: ({ forMs }, order, done) => self.pause(order, forMs, done),
    release: (order) => {
      links.release?.(order);
      self.release(order);
    },
  };
}

/** Of the controller and of root agents: at their links to each other. */
export function linkActions({ linkFaults }: AgentNode): FaultActions {
  /** By injection. */
  const impaired = new Map<string, Set<Position>>();
  return {
    impair: ({ peers, how }, { id }, done) => {
      const all = entryOf(impaired, id, () => new Set());
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
