/** Injections that are in force or about to be, at the controller: their parts, and what became of each. */

import {
  addressIndex, addressKind, agentName, rootAddress, sessionAddress, CONTROLLER, type Address, type FaultOrder,
  type FaultPart, type FaultReport, type HostIndex, type JobId, type Timer,
} from '@stci/interface';

/** Parts of all injections together. */
export const SESSION_PARTS_MAX = 10_000;

export interface OrderPart {
  readonly number: number;
  readonly agent: Address;
  /** Of a session agent. */
  readonly job: JobId;
  /** For its user. */
  readonly name: string;
  readonly body: FaultPart;
  /** What its front-end was told of it; see FaultReports. */
  state: 'ordered' | 'injected' | 'ended';
  /** Since it has been in force: at the controller, when it was told, and at its agent; ms of their own clocks. */
  injected?: { readonly hereMs: number; readonly thereMs: number };
  /** The controller has ordered to undo it. */
  isUndoing: boolean;
  /** The controller has told its end, whatever its agent says later. */
  isGivenUp: boolean;
  /** What its agent said last. */
  said?: FaultReport['state'];
  /** Nothing of it is left at its agent. */
  isOver: boolean;
}

export interface OpenOrder {
  readonly order: FaultOrder;
  /** Its name at its sites. A front-end may use an id again while a site still has the former injection in force. */
  readonly serial: string;
  /** It has to be undone. */
  readonly undoes: boolean;
  readonly parts: readonly OrderPart[];
  /** Until all parts have reported. */
  timer?: Timer;
}

export function openOrder(
  order: FaultOrder, serial: string, undoes: boolean, parts: readonly FaultPart[],
): OpenOrder {
  return { order, serial, undoes, parts: parts.map((part, number) => openPart(order, part, number)) };
}

function openPart({ job }: FaultOrder, body: FaultPart, number: number): OrderPart {
  const { role, host } = body.at;
  const isSession = role === 'session';
  const agent = role === 'controller' ? CONTROLLER : isSession ? sessionAddress(host) : rootAddress(host);
  const name = agentName(agent, job);
  const open = { state: 'ordered', isUndoing: false, isGivenUp: false, isOver: false } as const;
  return { number, agent, job: isSession ? job : 0, name, body, ...open };
}

export class FaultOrders {
  readonly #orders = new Map<string, OpenOrder>();
  readonly #bySerial = new Map<string, OpenOrder>();

  get size(): number {
    return this.#orders.size;
  }

  get partCount(): number {
    return [...this.#orders.values()].reduce((sum, { parts }) => sum + parts.length, 0);
  }

  /** Of this injection; empty: of all. */
  ids(id: string): string[] {
    if (id === '') return [...this.#orders.keys()];
    return this.#orders.has(id) ? [id] : [];
  }

  get all(): readonly OpenOrder[] {
    return [...this.#orders.values()];
  }

  get(id: string): OpenOrder | undefined {
    return this.#orders.get(id);
  }

  ofSerial(serial: string): OpenOrder | undefined {
    return this.#bySerial.get(serial);
  }

  add(open: OpenOrder): void {
    this.#orders.set(open.order.id, open);
    this.#bySerial.set(open.serial, open);
  }

  /** Forgets it if all its parts are over. */
  settle(open: OpenOrder): void {
    if (open.parts.some(({ isOver }) => !isOver)) return;
    open.timer?.cancel();
    this.#orders.delete(open.order.id);
    this.#bySerial.delete(open.serial);
  }

  /** Names of agents at which parts of these injections are not over. */
  left(ids: readonly string[]): string[] {
    const parts = ids.flatMap((id) => this.#orders.get(id)?.parts ?? []);
    return [...new Set(parts.filter(({ isOver }) => !isOver).map(({ name }) => name))];
  }

  /** Parts at agents that are gone: root agent and session agents of a host, session agents of a job, or one. */
  takeGone({ host, job }: { readonly host?: HostIndex; readonly job?: JobId }): (readonly [OpenOrder, OrderPart])[] {
    const isGone = ({ agent, job: own }: OrderPart): boolean =>
      addressKind(agent) !== 'controller' && (host === undefined || addressIndex(agent) === host)
      && (job === undefined || (addressKind(agent) === 'session' && own === job));
    return [...this.#orders.values()].flatMap((open) =>
      open.parts.filter((part) => !part.isOver && isGone(part)).map((part) => [open, part] as const));
  }

  /** Forgets all. */
  clear(): void {
    for (const { timer } of this.#orders.values()) timer?.cancel();
    this.#orders.clear();
    this.#bySerial.clear();
  }
}
