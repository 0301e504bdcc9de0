/**
 * Fault control (STCI paper, IV-B and figure 2: fi:ctrl), at the controller: one experiment at a time in a session. It
 * checks each order against the terms, has the kind plan it, sends the parts to their sites, and tells what became of
 * them. When the experiment's front-end is gone, or does not renew its lease, everything is undone.
 */

import {
  CONTROLLER, StciError, addressName, type ClockOffset, type ExperimentTerms, type FaultModule, type FaultOrder,
  type FaultPart, type JobId, type Timer,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import type { MessageContext } from '../am/message-layer.js';
import { heldTimer } from '../event/timers.js';
import { completeFaultArgs, faultOrderProblem } from '../fault/order.js';
import { termsProblem, victimKey } from '../fault/terms.js';
import type { AgentNode } from '../node/node.js';
import type { ControllerPlace, Gone, OpenService, ServiceScope } from '../service/contracts.js';
import { measureClocks } from './clock-offsets.js';
import type { ExperimentOwner, SessionFaults } from './fault-contracts.js';
import { FaultOrders, SESSION_PARTS_MAX, openOrder, type OpenOrder, type OrderPart } from './fault-orders.js';
import { FaultReports } from './fault-reports.js';
import { FaultSite, SITE_UNDO_MS, type FaultActions, type PartReport } from './fault-site.js';
import { FaultTargets } from './fault-targets.js';

/** Injections in force at the same time. */
const ORDERS_MAX = 1024;
/** Orders to undo that wait for their answer. */
const WAITING_MAX = 1024;
/** Front-ends that wait for the clocks. */
const CLOCKS_MAX = 64;
/** For the way to a site and back, besides the order's own time. */
const ANSWER_MS = 3000;
/** From the order to undo to the answer that names those that have not done it. */
const UNDO_ANSWER_MS = SITE_UNDO_MS + ANSWER_MS;

export interface FaultControlInit {
  readonly node: AgentNode;
  readonly scope: Pick<ServiceScope, 'fault'>;
  /** Of the controller itself. */
  readonly actions: () => FaultActions;
  readonly session: ControllerPlace['session'];
}

interface Experiment {
  readonly owner: ExperimentOwner;
  terms: ExperimentTerms;
  lease: Timer | undefined;
  /** Keys of its victims. */
  readonly hit: Set<string>;
  /** All is being undone, and no more is injected. */
  isEnding: boolean;
  /** Who asked for that while it was being done. */
  readonly onEnded: ((left: readonly string[]) => void)[];
}

type Planned =
  | { readonly order: FaultOrder; readonly module: FaultModule; readonly parts: readonly FaultPart[] }
  | { readonly refused: string; readonly state?: 'skipped' };

interface Waiting {
  readonly ids: readonly string[];
  readonly done: (left: readonly string[]) => void;
  timer?: Timer;
}

export class FaultControl implements SessionFaults, OpenService {
  readonly #init: FaultControlInit;
  /** Of the controller itself, once it has a part. */
  #site: FaultSite | undefined;
  readonly #orders = new FaultOrders();
  readonly #reports: FaultReports;
  readonly #places: FaultTargets;
  readonly #waiting = new Set<Waiting>();
  /** Whoever asks while they are measured gets the same answer. */
  #onClocks: ((clocks: readonly ClockOffset[]) => void)[] = [];
  #experiment: Experiment | undefined;
  #serial = 0;

  constructor(init: FaultControlInit) {
    this.#init = init;
    const { node, session } = init;
    this.#reports = new FaultReports(node.platform.clock, () => this.#experiment?.owner);
    this.#places = new FaultTargets(session, node.platform.env.network);
    node.holds.holdAll(() => this.#orders.all.map(({ order }) => `injection ${order.id}`));
    node.messages.on('fault.report', (report, from) => this.#onReport(report, from));
  }

  get isIdle(): boolean {
    return this.#experiment === undefined && this.#orders.size === 0;
  }

  begin(owner: ExperimentOwner, terms: ExperimentTerms): void {
    const current = this.#experiment;
    if (current !== undefined && (current.owner !== owner || current.isEnding)) {
      const why = current.isEnding ? 'The faults of the last experiment are still being undone'
        : 'Another experiment runs in this session';
      throw new StciError('STCI_SESSION_REFUSED', `${why}. Try again when it is over, or use another session.`);
    }
    const experiment = current ?? { owner, terms, lease: undefined, hit: new Set<string>(), isEnding: false,
      onEnded: [] };
    experiment.terms = terms;
    experiment.lease?.cancel();
    experiment.lease = this.#after(terms.leaseMs, () =>
      this.#abandon(experiment, `the front-end of the experiment was silent for ${formatDuration(terms.leaseMs)}`));
    this.#experiment = experiment;
  }

  inject(owner: ExperimentOwner, orders: readonly FaultOrder[]): void {
    const opened = orders.map((order) => this.#open(owner, order)).filter((open) => open !== undefined);
    const parts = opened.flatMap((open) =>
      open.parts.map((part) => ({ open, part, depth: this.#places.depthOf(part) })));
    // Links keep the order of messages: each passes the agents above its own before those are stopped or cut off.
    for (const { open, part } of parts.sort((a, b) => b.depth - a.depth)) this.#send(open, part);
  }

  /** Undefined: it was refused, or is nothing for a site. */
  #open(owner: ExperimentOwner, order: FaultOrder): OpenOrder | undefined {
    const experiment = this.#experimentOf(owner);
    const refuse = (reason: string, state: 'failed' | 'skipped' = 'failed'): undefined =>
      void this.#reports.tell(owner, order.id, state, reason);
    if (experiment === undefined) return refuse('this front-end has begun no experiment, or it is over');
    const planned = this.#plan(experiment, order);
    if ('refused' in planned) return refuse(planned.refused, planned.state);
    if (order.victim.kind === 'agent' && order.victim.role === 'front-end') {
      return void this.#reports.tell(owner, order.id, 'injected', 'permitted: the front-end does it to itself');
    }
    experiment.hit.add(victimKey(order));
    const open = openOrder(planned.order, String(++this.#serial), planned.module.undoes, planned.parts);
    this.#orders.add(open);
    this.#await(open, order.timeoutMs + ANSWER_MS);
    return open;
  }

  undo(owner: ExperimentOwner, id: string, done: (left: readonly string[]) => void): void {
    const experiment = this.#experiment;
    if (experiment?.owner !== owner) return done([]);
    if (id !== '') return this.#undo(id, done);
    if (!experiment.isEnding) return this.#end(experiment, done);
    if (experiment.onEnded.length >= WAITING_MAX) return done(this.#orders.left(this.#orders.ids('')));
    experiment.onEnded.push(done);
  }

  clocks(done: (clocks: readonly ClockOffset[]) => void): void {
    if (this.#onClocks.length >= CLOCKS_MAX) return done([]);
    this.#onClocks.push(done);
    if (this.#onClocks.length > 1) return;
    const hosts = this.#init.session.table?.hosts('up') ?? [];
    const named = hosts.map((host) => ({ host, name: this.#init.session.hostName(host) }));
    measureClocks(this.#init.node, named, (clocks) => {
      const waiting = this.#onClocks;
      this.#onClocks = [];
      for (const each of waiting) each(clocks);
    });
  }

  leave(owner: ExperimentOwner): boolean {
    const experiment = this.#experimentOf(owner);
    if (experiment !== undefined) this.#abandon(experiment, 'the front-end of the experiment has gone');
    return experiment !== undefined;
  }

  /** What they had in force is gone with them. */
  onGone(gone: Gone): void {
    const isJobOver = gone.host === undefined;
    for (const [open, part] of this.#orders.takeGone(gone)) {
      const { name } = part;
      const ended = isJobOver ? `its job was over before ${name}` : `${name} has ended before it`;
      const lapsed = isJobOver ? 'its job is over' : `${name} has ended`;
      this.#reports.end(open, part,
        [`${ended} told whether the fault was in force`, `${lapsed}, and the fault with it`]);
      this.#onOver(open, part);
    }
  }

  /** The session ends, and every fault with its agents. */
  stop(): void {
    this.#site?.stop('the session ends');
    this.#experiment?.lease?.cancel();
    this.#giveUp('the session ends', 'the session ends, and the fault with it');
    this.#experiment = undefined;
    for (const waiting of this.#waiting) this.#answer(waiting);
  }

  #plan(experiment: Experiment, given: FaultOrder): Planned {
    const { id, kind, job } = given;
    if (job !== 0 && this.#init.session.jobOf(job) === undefined) {
      return { refused: `job ${job} is over`, state: 'skipped' };
    }
    if (id === '' || this.#orders.get(id) !== undefined) return { refused: `'${id}' is in force already` };
    if (this.#orders.size >= ORDERS_MAX) return { refused: `${ORDERS_MAX} injections are in force: no more are taken` };
    try {
      return this.#planBy(this.#init.scope.fault(kind), experiment, given);
    } catch (fault) {
      if (fault instanceof StciError) return { refused: fault.message };
      // Kinds may be others' code.
      this.#init.node.fault(fault, `fault ${kind}`);
      return { refused: `fault ${kind} cannot be planned: ${fault instanceof Error ? fault.message : String(fault)}` };
    }
  }

  #planBy(module: FaultModule, { terms, hit }: Experiment, given: FaultOrder): Planned {
    const { kind } = given;
    const complete = completeFaultArgs(kind, module.args, given.args);
    if ('problem' in complete) return { refused: complete.problem };
    const order = { ...given, args: complete.args };
    const problem = faultOrderProblem(order, module) ?? termsProblem(order, terms, this.#places, hit);
    if (problem !== undefined) return { refused: problem };
    if (order.victim.kind === 'agent' && order.victim.role === 'front-end') return { order, module, parts: [] };
    const parts = module.plan(order, this.#places.of(order.job));
    if (typeof parts === 'string') return { refused: parts, state: 'skipped' };
    const outside = terms.ownsSession ? undefined : this.#places.outsideProblem(order);
    if (outside !== undefined) return { refused: outside };
    if (parts.length === 0) return { refused: `fault ${kind} has nothing to do for this victim` };
    if (this.#orders.partCount + parts.length > SESSION_PARTS_MAX) {
      const most = `at most ${SESSION_PARTS_MAX} take part in faults at one time`;
      return { refused: `${parts.length} agents are too many: ${most}` };
    }
    const areParts = parts.every((part) => isPart(part, order.job));
    if (!areParts) return { refused: `fault ${kind} has planned parts that are none` };
    return { order, module, parts };
  }

  #send(open: OpenOrder, part: OrderPart): void {
    const { node } = this.#init;
    const { role, host } = part.body.at;
    const message = { order: siteOrder(open), number: part.number, part: part.body };
    if (role === 'controller') return this.#ownSite().inject(message);
    const table = this.#init.session.table;
    const isGone = table === undefined || host >= table.size || table.isGone(host);
    if (isGone) {
      const why = `${part.name} is gone`;
      this.#reports.end(open, part, [why, why], 'skipped');
      return this.#onOver(open, part);
    }
    const error = node.messages.send(part.agent, 'fault.inject', message, part.job);
    if (error === undefined) return;
    const text = `${part.name} cannot be reached: ${error.message}`;
    this.#reports.end(open, part, [text, text]);
    this.#onOver(open, part);
  }

  #ownSite(): FaultSite {
    const { node, scope, actions } = this.#init;
    return this.#site ??= new FaultSite({
      node, scope, actions: actions(), isCutOff: () => false,
      report: (report, told) => {
        this.#onReport(report, { source: CONTROLLER, job: 0 });
        told?.();
      },
    });
  }

  #onReport(told: PartReport, { source, job }: Pick<MessageContext, 'source' | 'job'>): void {
    const { id: serial, number, report, over } = told;
    const open = this.#orders.ofSerial(serial);
    const part = open?.parts[number];
    if (open === undefined || part === undefined || part.isOver) return; // It was given up.
    const { id } = open.order;
    if (part.agent !== source || part.job !== (source === CONTROLLER ? 0 : job)) {
      const text = `Expected a report of injection ${id}, part ${number}, from ${part.name}, got it from `;
      throw new StciError('STCI_MESSAGE_INVALID', `${text}${addressName(source)}`);
    }
    if (report !== undefined) this.#reports.ofSite(open, part, source, report);
    if (over) this.#tellEnd(open, part);
    const isDone = report?.state === 'injected' && !open.undoes;
    if (over || isDone) this.#onOver(open, part);
    else if (open.parts.every(({ state }) => state !== 'ordered')) open.timer?.cancel();
  }

  /** Its site has torn it down without a word of its own. */
  #tellEnd(open: OpenOrder, part: OrderPart): void {
    const text = `${part.name} has ended it`;
    this.#reports.end(open, part,
      [`${text} without telling whether it was in force`, `${text}, and did not tell how`]);
  }

  #onOver(open: OpenOrder, part: OrderPart): void {
    part.isOver = true;
    this.#orders.settle(open);
    for (const waiting of this.#waiting) if (this.#orders.left(waiting.ids).length === 0) this.#answer(waiting);
  }

  /** Longer, once, where others of the experiment's faults are in force on the way: it may be behind their victims. */
  #await(open: OpenOrder, waitMs: number, waitedMs = 0): void {
    open.timer = this.#after(waitMs, () => {
      const unanswered = open.parts.filter(({ state }) => state === 'ordered');
      const heldUpMs = waitedMs > 0 ? 0 : this.#places.heldUpMs(open, unanswered, this.#orders.all);
      if (heldUpMs > 0) this.#await(open, heldUpMs + ANSWER_MS, waitMs);
      else this.#onUnanswered(open, unanswered, waitMs + waitedMs);
    });
  }

  /** Its site may have it in force, or get it later: it is undone. */
  #onUnanswered(open: OpenOrder, parts: readonly OrderPart[], waitMs: number): void {
    for (const part of parts) {
      const text = `${part.name} did not answer within ${formatDuration(waitMs)}`;
      this.#reports.end(open, part, [text, text]);
      this.#sendUndo(open, part);
    }
  }

  /** What is left of the experiment is nobody's from now on: those that are not reached undo it by themselves. */
  #giveUp(ordered: string, injected: string): void {
    for (const open of this.#orders.all) {
      for (const part of open.parts) {
        const text = `${ordered} before ${part.name} told whether the fault was in force`;
        this.#reports.end(open, part, [text, injected]);
      }
    }
    this.#orders.clear();
  }

  #undo(id: string, done: (left: readonly string[]) => void): void {
    const ids = this.#orders.ids(id);
    if (id !== '' && this.#waiting.size >= WAITING_MAX) return done(this.#orders.left(ids));
    const waiting: Waiting = { ids, done };
    this.#waiting.add(waiting);
    waiting.timer = this.#after(UNDO_ANSWER_MS, () => this.#answer(waiting));
    for (const open of ids.map((each) => this.#orders.get(each))) {
      for (const part of open?.parts ?? []) if (open !== undefined && !part.isOver) this.#sendUndo(open, part);
    }
    if (this.#orders.left(ids).length === 0) this.#answer(waiting);
  }

  #sendUndo({ serial }: OpenOrder, part: OrderPart): void {
    const { agent, job } = part;
    part.isUndoing = true;
    if (agent === CONTROLLER) return this.#site?.undo(serial);
    this.#init.node.messages.send(agent, 'fault.undo', { id: serial }, job); // Or it is left to lapse.
  }

  #answer(waiting: Waiting): void {
    if (!this.#waiting.delete(waiting)) return;
    waiting.timer?.cancel();
    waiting.done(this.#orders.left(waiting.ids));
  }

  #end(experiment: Experiment, done: (left: readonly string[]) => void): void {
    experiment.isEnding = true;
    experiment.lease?.cancel();
    this.#undo('', (left) => {
      this.#giveUp('the experiment was over', 'it was not reached: it undoes the fault by itself');
      if (this.#experiment === experiment) this.#experiment = undefined;
      for (const each of [done, ...experiment.onEnded]) each(left);
    });
  }

  #abandon(experiment: Experiment, reason: string): void {
    if (experiment.isEnding) return;
    this.#init.node.platform.log.write('info', `An experiment is ended, and its faults are undone: ${reason}`);
    this.#end(experiment, () => experiment.owner.onAbandoned(reason));
  }

  #experimentOf(owner: ExperimentOwner): Experiment | undefined {
    const experiment = this.#experiment;
    return experiment?.owner === owner && !experiment.isEnding ? experiment : undefined;
  }

  #after(delayMs: number, fire: () => void): Timer {
    const { holds, platform: { clock } } = this.#init.node;
    return heldTimer(holds, clock, 'of faults', delayMs, fire);
  }
}

/** For a site, whose part says what it has to do: the sets of a partition name all hosts. */
function siteOrder({ order, serial: id }: OpenOrder): FaultOrder {
  return { ...order, id, ...(order.victim.kind === 'partition' && { victim: { kind: 'partition', sets: [] } }) };
}

const ROLES: readonly string[] = ['controller', 'root', 'session'];

/** A session agent is one of a job. */
function isPart(part: FaultPart | undefined, job: JobId): boolean {
  const { role = '', host = -1 } = part?.at ?? {};
  return ROLES.includes(role) && (role !== 'session' || job !== 0) && Number.isInteger(host) && host >= 0;
}
