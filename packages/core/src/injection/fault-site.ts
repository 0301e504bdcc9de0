/**
 * Fault site (STCI paper, IV-B: of a session agent, its target manager): carries out the parts of injections at this
 * agent. The kind's machine says what is done, the actions of the agent's role do it. A fault is undone when its
 * duration is over, when the controller says so, and when the agent stops, without anybody's help.
 */

import {
  addressIndex, addressName, type FaultAction, type FaultEvent, type FaultModule, type FaultOrder,
  type FaultReport, type StciError,
} from '@stci/interface';
import { MachineDriver } from '../event/machine-driver.js';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { OpenService, ServiceScope } from '../service/contracts.js';
import { FaultProcesses } from './fault-processes.js';

/** Parts of injections at one agent. */
const SITE_PARTS_MAX = 1024;
/** How long a machine may take to undo before it is given up. */
export const SITE_UNDO_MS = 5000;

type ActionOf<Type extends FaultAction['type']> = Extract<FaultAction, { readonly type: Type }>;

/** Carries out an action and says when it is done, or why it cannot be. */
type Perform<Type extends FaultAction['type']> =
  (action: ActionOf<Type>, fault: Injection, done: (problem?: string) => void) => void;

/** The injection for which something is done; what it leaves is undone at the end of its scope. */
export interface Injection {
  readonly order: FaultOrder;
  readonly holds: Scope;
}

/** What an agent can do by its role; the rest it refuses. */
export type FaultActions = {
  readonly [Type in 'signal' | 'exit' | 'kill' | 'pause' | 'impair' | 'restore' | 'close']?: Perform<Type>;
};

export type PartReport = MessageBody<'fault.report'>;

export interface FaultSiteInit {
  readonly node: AgentNode;
  readonly scope: Pick<ServiceScope, 'fault'>;
  readonly actions: FaultActions;
  /** To the controller. `told`: it has it, or it cannot be told. */
  report(report: PartReport, told?: () => void): void;
  /** The controller cannot be told now. */
  isCutOff(): boolean;
}

interface Part {
  readonly key: string;
  readonly number: number;
  readonly order: FaultOrder;
  readonly undoes: boolean;
  state: 'new' | 'injected' | 'undoing' | 'over';
  hasInjected: boolean;
  /** Why it is undone without an order of the controller. */
  lapse: string | undefined;
  /** Until nothing of it is left. */
  readonly holds: Scope;
  /** Until it is in force, its time is over, or it is undone. */
  readonly timers: Timers<'limit'>;
}

export class FaultSite implements OpenService {
  readonly #init: FaultSiteInit;
  readonly #parts = new Map<string, Part>();
  readonly #driver: MachineDriver<FaultEvent, FaultAction>;
  readonly #processes: FaultProcesses;
  /** That the agent has it. */
  readonly #forget: () => void;
  /** Why it takes no more. */
  #stopped: string | undefined;

  constructor(init: FaultSiteInit) {
    this.#init = init;
    this.#processes = new FaultProcesses(init.node);
    this.#driver = new MachineDriver<FaultEvent, FaultAction>(init.node.platform.clock, 'Fault', {
      onAction: (key, action) => this.#onAnyAction(key, action),
      onFault: (key, error) => this.#onFault(key, error),
    });
    this.#forget = init.node.holds.atEnd(() => this.#driver.stop());
  }

  get isIdle(): boolean {
    return this.#parts.size === 0;
  }

  inject({ order, number, part: { body } }: MessageBody<'fault.inject'>): void {
    const key = `${order.id} ${number}`;
    const refuse = (reason: string): void => {
      this.#report(order.id, number, 'failed', reason);
      this.#send({ number, id: order.id, over: true });
    };
    if (this.#parts.has(key)) return;
    if (this.#stopped !== undefined) return refuse(this.#stopped);
    if (this.#parts.size >= SITE_PARTS_MAX) {
      return refuse(`this agent has ${SITE_PARTS_MAX} faults in force, the most there are`);
    }
    let module: FaultModule;
    const { platform } = this.#init.node;
    const random = platform.random.fork(`fault ${key}`);
    try {
      module = this.#init.scope.fault(order.kind);
      this.#driver.add(key, module.open({ order, body, random: () => random.uniform() }));
    } catch (fault) {
      return refuse(`fault ${order.kind} cannot be opened: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
    const holds = this.#init.node.holds.child(`fault ${order.kind}`);
    const part: Part = {
      key, number, order, undoes: module.undoes, state: 'new', hasInjected: false, lapse: undefined, holds,
      timers: new Timers(platform.clock, holds),
    };
    part.timers.set('limit', order.timeoutMs, () => this.#onTimeout(part));
    this.#parts.set(key, part);
    this.#driver.on({ type: 'set-up' }, key);
    this.#driver.on({ type: 'inject' }, key);
  }

  undo(id: string): void {
    for (const part of [...this.#parts.values()]) if (part.order.id === id) this.#undo(part);
  }

  /** The agent stops, or its job is over: nothing of a fault is left here. */
  stop(reason: string): void {
    this.#stopped = reason;
    for (const part of [...this.#parts.values()]) {
      part.lapse = reason;
      this.#undo(part);
      this.#onUndone(part); // What its machine has not undone is released.
      this.#remove(part);
    }
    this.#driver.stop();
    this.#forget();
  }

  #undo(part: Part): void {
    if (part.state === 'undoing' || part.state === 'over') return;
    part.state = 'undoing';
    part.timers.set('limit', SITE_UNDO_MS, () => this.#onUndoTimeout(part));
    this.#driver.on({ type: 'undo' }, part.key);
  }

  /** Kinds may be others' code: an action that is none fails its fault, and nothing else. */
  #onAnyAction(key: string, action: FaultAction): void {
    try {
      this.#onAction(key, action);
    } catch (fault) {
      const part = this.#parts.get(key);
      this.#init.node.fault(fault, 'action of a fault');
      const why = fault instanceof Error ? fault.message : String(fault);
      if (part !== undefined) this.#fail(part, `fault ${part.order.kind}: its action cannot be carried out: ${why}`);
    }
  }

  #onAction(key: string, action: FaultAction): void {
    const part = this.#parts.get(key);
    if (part === undefined) return;
    switch (action.type) {
      case 'injected':
        return this.#onInjected(part, action);
      case 'undone':
        return this.#onUndone(part);
      case 'failed':
        return this.#fail(part, action.reason);
      default:
        this.#carryOut(part, action, (problem) => this.#driver.on({ type: 'done', key: action.key, problem }, key));
    }
  }

  #carryOut(
    { holds, order }: Part,
    action: Exclude<FaultAction, { readonly type: 'injected' | 'undone' | 'failed' }>,
    done: (problem?: string) => void,
  ): void {
    if (action.type === 'spawn') return this.#processes.spawn(holds, action, done);
    if (action.type === 'run') return this.#processes.run(action, done);
    if (action.type === 'end') return this.#processes.end(holds, action.key, done);
    const { actions } = this.#init;
    const known = Object.hasOwn(actions, action.type);
    const perform = known ? actions[action.type] as Perform<typeof action.type> : undefined;
    if (perform === undefined) return done(`${this.#init.node.name} cannot do this: ${action.type}`);
    perform(action as never, { order, holds }, done);
  }

  #onInjected(part: Part, { text, key }: ActionOf<'injected'>): void {
    const { order, undoes } = part;
    if (part.state !== 'new') return;
    part.state = 'injected';
    part.hasInjected = true;
    part.timers.clear('limit');
    const told = key === undefined ? undefined : (): void => this.#driver.on({ type: 'done', key }, part.key);
    this.#report(order.id, part.number, 'injected', text, told);
    if (!undoes) return this.#finish(part);
    if (order.durationMs === undefined) return;
    part.timers.set('limit', order.durationMs, () => {
      if (this.#init.isCutOff()) part.lapse = 'its time was over, and the controller could not be told';
      this.#undo(part);
    });
  }

  #onUndone(part: Part): void {
    const { order, number, hasInjected, lapse, state } = part;
    if (state === 'over') return;
    if (!hasInjected) this.#report(order.id, number, 'skipped', 'it was undone before it was in force');
    else if (lapse === undefined) this.#report(order.id, number, 'undone', '');
    else this.#report(order.id, number, 'lapsed', lapse);
    this.#finish(part);
  }

  /** What has been done of it is undone. */
  #fail(part: Part, reason: string): void {
    if (part.state === 'over') return;
    const wasUndoing = part.state === 'undoing';
    this.#report(part.order.id, part.number, 'failed', reason);
    part.state = 'over';
    if (!wasUndoing) this.#driver.on({ type: 'undo' }, part.key);
    this.#finish(part);
  }

  #onTimeout(part: Part): void {
    this.#fail(part, `fault ${part.order.kind} was not in force within ${part.order.timeoutMs} ms (its timeout)`);
  }

  #onUndoTimeout(part: Part): void {
    this.#fail(part, `fault ${part.order.kind} could not be undone within ${SITE_UNDO_MS} ms`);
  }

  /** The machine has thrown, and is no more. */
  #onFault(key: string, error: StciError): void {
    this.#init.node.fault(error, 'fault');
    const part = this.#parts.get(key);
    if (part !== undefined) this.#fail(part, `fault ${part.order.kind}: ${error.message}`);
  }

  /** In a later turn, when the machine has been passed all that waits for it. */
  #finish(part: Part): void {
    part.state = 'over';
    part.timers.clear('limit');
    this.#driver.on({ type: 'tear-down' }, part.key);
    this.#init.node.platform.clock.soon(() => this.#remove(part));
  }

  #remove(part: Part): void {
    if (!this.#parts.delete(part.key)) return;
    this.#driver.remove(part.key);
    part.holds.close();
    this.#send({ number: part.number, id: part.order.id, over: true });
  }

  #report(id: string, number: number, state: FaultReport['state'], text: string, told?: () => void): void {
    const { clock } = this.#init.node.platform;
    const { self } = this.#init.node.identity;
    const at = { wallMs: clock.wallMs(), monotonicMs: clock.nowMs() };
    const report: FaultReport = { id, agent: addressName(self), host: addressIndex(self), state, text, ...at };
    this.#send({ number, id, report, over: false }, told);
  }

  #send(report: Omit<PartReport, 'host' | 'report'> & { readonly report?: FaultReport }, told?: () => void): void {
    this.#init.report({ report: undefined, ...report, host: addressIndex(this.#init.node.identity.self) }, told);
  }
}
