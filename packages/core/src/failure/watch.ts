/**
 * Failure watch: the detectors and notifiers of one agent, the controller's or a root agent's, bound to the clock and
 * the overlay (STCI paper, II-F). What a detector reports, or somebody else, goes onto the notice board; what is new is
 * told to all members by the detector's notifier, and to this agent by `onNotice`. Who takes part is written to the
 * agent's view of the members, whose changes detectors and notifiers are told of.
 *
 * Nobody declares the controller dead: who cannot hear it is cut off itself. An agent that the controller has given up,
 * at this incarnation, ends itself; that others report it is not enough, they may be the ones that are cut off.
 */

import {
  StciError, bootHost, type Clock, type Detector, type DetectorAction, type DetectorEvent,
  type DetectorModule, type Evidence, type MemberId, type NotifierAction,
  type NotifierEvent, type NotifierModule, type Position, type PromiseRequest, type Timer, type Topology,
} from '@stci/interface';
import { decode, encode } from '../codec/cbor.js';
import { check } from '../codec/shape.js';
import { notifierFor, topologyFor, type SelectedDetector } from '../detector/selected.js';
import { MachineDriver } from '../event/machine-driver.js';
import { isLiving, type MemberChange } from '../members/view.js';
import { evidence } from '../messages/failure-shapes.js';
import type { MessageBody } from '../messages/messages.js';
import { countAction } from '../metrics/actions.js';
import type { Metrics } from '../metrics/contracts.js';
import type { Overlay } from '../peers/contracts.js';
import { EarlyMessages } from './early-messages.js';
import { FailureTable } from './failure-table.js';
import type { MemberNews } from './member-changes.js';
import { WARM_UP_MS, WARM_UP_PAYLOAD, isWarmUp, warmUpNotices } from './notice-warm-up.js';
import { checkReporter, memberName, memberOf } from './notice.js';

type Early = MessageBody<'detector.message'> | MessageBody<'notifier.message'>;

export interface FailureWatchInit {
  readonly clock: Clock;
  readonly overlay: Overlay;
  readonly detectors: readonly SelectedDetector[];
  notifier(name: string): NotifierModule;
  /** Of the session's overlay, as a user writes it; empty: there is none. */
  readonly overlayTopology: string;
  /** A topology as a user writes it, over so many positions. */
  topologyOf(text: string, size: number): Topology;
  random(): number;
  /** Of so many agents. */
  promiseRequest(members: number): PromiseRequest;
  readonly metrics?: Metrics | undefined;
}

export interface FailureWatchEvents {
  /** By a detector of this agent, which may report it soon. */
  onSuspected(member: MemberId): void;
  /** For the first time, whoever reported it; `confirmed`: somebody else reports it, too. */
  onNotice(notice: Evidence, news: 'new' | 'confirmed'): void;
  /** This agent is dead to the others. */
  onFenced(reason: string): void;
  /** A detector does not hear the controller. */
  onCutOff(evidence: string): void;
  onFault(error: StciError, where: string): void;
}

type Report = Extract<DetectorAction, { readonly type: 'report' }>;

export class FailureWatch {
  readonly board = new FailureTable();
  readonly #init: FailureWatchInit;
  readonly #events: FailureWatchEvents;
  readonly #detectors: MachineDriver<DetectorEvent, DetectorAction>;
  readonly #notifiers: MachineDriver<NotifierEvent, NotifierAction>;
  readonly #faulty = new Set<Position>();
  /** Reported by detectors of this agent, and neither refuted nor dead. */
  readonly #suspected = new Set<Position>();
  /** Of agents whose joining is not known yet. */
  readonly #early = new EarlyMessages();
  #phase: 'waiting' | 'watching' | 'stopped' = 'waiting';
  #warmUpTimer: Timer | undefined;

  constructor(init: FailureWatchInit, events: FailureWatchEvents) {
    this.#init = init;
    this.#events = events;
    this.#detectors = new MachineDriver(init.clock, 'Detector', {
      onAction: (name, action, nowMs) => this.#onDetectorAction(name, action, nowMs),
      onLate: (lagMs) => {
        this.#detectors.on({ type: 'lag', lagMs });
        init.metrics?.count('lag_ms', lagMs);
      },
      onMalformed: (name, event, error) => this.#onMalformed(`detector ${name}`, event, error),
      onFault: (name, error) => events.onFault(error, `detector ${name}`),
    });
    this.#notifiers = new MachineDriver(init.clock, 'Notifier', {
      onAction: (name, action) => this.#onNotifierAction(name, action),
      onLate: () => undefined,
      onMalformed: (name, event, error) => this.#onMalformed(`notifier ${name}`, event, error),
      onFault: (name, error) => events.onFault(error, `notifier ${name}`),
    });
  }

  get isWatching(): boolean {
    return this.#phase === 'watching';
  }

  /** All agents are up: these take part. */
  start(members: readonly MemberId[]): void {
    if (this.#phase !== 'waiting') return;
    this.#phase = 'watching';
    const { clock, overlay } = this.#init;
    for (const member of members) overlay.members.join(member);
    this.#openAll(overlay);
    overlay.members.observe((change) => this.#onMember(change));
    overlay.events = {
      onUp: (peer) => this.#onLink({ type: 'link', peer, state: 'up' }),
      onClosed: (peer, reason, text) => this.#onLink({ type: 'link', peer, state: 'closed', reason, text }),
    };
    overlay.whenOpen(() => this.#detectors.on({ type: 'start' }));
    if (overlay.self.position === 0) this.#warmUpTimer = clock.after(WARM_UP_MS, () => this.#warmUp());
  }

  /** The session ends: whoever goes now is no failure. */
  stop(): void {
    this.#phase = 'stopped';
    this.#warmUpTimer?.cancel();
    this.#detectors.stop();
    this.#notifiers.stop();
  }

  /**
   * One that is gone is not heard any more. A message may come before the controller's news that its sender joined: it
   * waits for that, since what an agent says of its own incarnation proves nothing.
   */
  onMessage(from: Position, message: Early): void {
    if (this.#phase !== 'watching') return;
    const { incarnation, body } = message;
    const member = { position: from, incarnation };
    const { members } = this.#init.overlay;
    if (members.stateOf(member) === undefined) return this.#early.keep(from, message);
    if (!members.has(member)) return;
    const event = { type: 'message', from: member, body } as const;
    if ('detector' in message) this.#detectors.on(event, message.detector);
    else this.#notifiers.on(event, message.notifier);
  }

  /** What this agent answers for: all are told. Throws STCI_MESSAGE_INVALID for a detector that is none of these. */
  report(found: Omit<Evidence, 'reporter'>): void {
    if (this.#phase !== 'watching') return;
    this.#checkDetector(found.detector);
    const notice: Evidence = { ...found, reporter: this.#init.overlay.self };
    this.#take(notice);
    const notifier = this.#notifierOf(notice.detector);
    this.#notifiers.on({ type: 'broadcast', payload: encode(notice) }, notifier);
  }

  /** What the controller has decided: it needs no notifier. */
  onChange({ member, change, notice }: MemberNews): void {
    if (this.#phase === 'stopped') return;
    if (change === 'joined') this.joined(member);
    else if (change === 'dead' && this.#isSelf(member)) this.#onFenced(notice);
    else if (change === 'refuted') this.#onRefuted(member);
    else {
      if (notice !== undefined) this.#take(notice);
      this.#init.overlay.members.lose(member, 'gone');
    }
  }

  /** Another incarnation takes part. */
  joined(member: MemberId): void {
    if (this.#phase !== 'watching' || !this.#init.overlay.members.join(member)) return;
    for (const [from, message] of this.#early.take()) this.onMessage(from, message as Early);
  }

  /** Somebody at this agent begins to wait for another, or for all. */
  waiting(id: number, on: Position | 'all'): void {
    this.#detectors.on({ type: 'waiting', id, on });
  }

  over(id: number): void {
    this.#detectors.on({ type: 'over', id });
  }

  /** The link to the parent is up again: the controller is heard. */
  onLinked(): void {
    const controller = { position: 0, incarnation: 0 };
    if (this.#init.overlay.self.position === 0) return;
    this.#detectors.on({ type: 'refuted', member: controller });
    this.#checkLink(0);
  }

  #openAll({ self, members }: Overlay): void {
    const { detectors, notifier } = this.#init;
    for (const name of new Set(detectors.map((one) => this.#notifierName(one)))) {
      const module = notifier(name);
      this.#notifiers.add(name, module.open({ self, members, topologyOf: this.#topologyOf(module.topology) }));
    }
    for (const { name, module } of detectors) {
      if (module.watches === 'agents') this.#detectors.add(name, this.#open(module));
    }
  }

  #open(module: DetectorModule): Detector {
    const { overlay: { self, members }, overlayTopology } = this.#init;
    const { answerMs } = this.#init.promiseRequest(members.alive);
    const topologyOf = this.#topologyOf(topologyFor(module, overlayTopology));
    return module.open({ self, members, topologyOf, answerMs, random: () => this.#init.random() });
  }

  #topologyOf(text: string): ((size: number) => Topology) | undefined {
    return text === '' ? undefined : (size) => this.#init.topologyOf(text, size);
  }

  /** Where no detector of the name runs here, it is one of a tool's, or the controller's own. */
  #notifierOf(detector: string): string | undefined {
    const { detectors } = this.#init;
    const found = detectors.find(({ name }) => name === detector) ?? detectors[0];
    return found === undefined ? undefined : this.#notifierName(found);
  }

  #notifierName(detector: SelectedDetector): string {
    return notifierFor(detector, this.#init.overlayTopology);
  }

  #onLink(event: Extract<DetectorEvent, { readonly type: 'link' }>): void {
    if (this.#phase === 'stopped' || !this.#init.overlay.members.has(event.peer)) return;
    this.#detectors.on(event);
  }

  #onDetectorAction(name: string, action: DetectorAction, nowMs: number): void {
    const { overlay, metrics } = this.#init;
    if (metrics !== undefined) countAction(metrics, name, action);
    if (action.type === 'report') return this.#onReport(name, action, nowMs);
    if (action.type === 'suspect' && action.member.position !== 0 && overlay.members.has(action.member)) {
      this.#events.onSuspected(action.member);
    }
    if (action.type !== 'send') return;
    const body = { detector: name, incarnation: overlay.self.incarnation, body: action.body };
    this.#onSent(overlay.send(action.to, 'detector.message', body));
  }

  #onReport(name: string, { failed, cause, evidence, suspectedMs, heardMs }: Report, nowMs: number): void {
    const { clock, detectors, overlay } = this.#init;
    if (!('position' in failed) || !overlay.members.has(failed)) return;
    const { position, incarnation } = failed;
    this.#suspected.add(position);
    if (position === 0) return this.#events.onCutOff(evidence);
    const confirmedWallMs = clock.wallMs();
    const module = detectors.find((one) => one.name === name)?.module;
    const promised = module?.promise(this.#init.promiseRequest(overlay.members.alive)).detection;
    const subject = { kind: 'host', host: bootHost(position), incarnation } as const;
    const wallMs = (atMs: number): number => Math.max(0, confirmedWallMs - Math.max(0, nowMs - atMs));
    const finding = {
      subject, cause, evidence, detector: name, suspectedWallMs: wallMs(suspectedMs), confirmedWallMs,
      ...(heardMs !== undefined && { heardWallMs: wallMs(heardMs) }),
    };
    this.report(promised === undefined ? finding : { ...finding, promised });
  }

  #onNotifierAction(name: string, action: NotifierAction): void {
    const { clock, overlay } = this.#init;
    // After its copies, which are sent at the end of this turn: others wait for them.
    if (action.type === 'deliver') return clock.soon(() => this.#onDelivered(name, action.source, action.payload));
    const body = { notifier: name, incarnation: overlay.self.incarnation, body: action.body };
    this.#onSent(overlay.sendReliably(action.to, 'notifier.message', body));
    this.#init.metrics?.count('notices', 1, { notifier: name });
  }

  #onDelivered(notifier: string, source: MemberId, payload: Uint8Array): void {
    if (this.#phase === 'stopped') return;
    if (isWarmUp(source, payload)) return warmUpNotices();
    let notice: Evidence;
    try {
      notice = check(evidence, decode(payload), 'notice');
      checkReporter(notice, source);
      this.#checkDetector(notice.detector);
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      return this.#events.onFault(fault, `notice of ${memberName(source)} by notifier ${notifier}`);
    }
    if (this.#isHeard(memberOf(notice.subject))) this.#take(notice);
  }

  /** After a failure there is nothing left to compile. */
  #warmUp(): void {
    if (this.board.size === 0) this.#notifiers.on({ type: 'broadcast', payload: WARM_UP_PAYLOAD });
  }

  /** Of one that is not known, not any more, or was reported wrongly before, the controller's verdict counts alone. */
  #isHeard(member: MemberId | undefined): boolean {
    if (member === undefined) return true;
    const { self, members } = this.#init.overlay;
    const state = members.stateOf(member);
    if (self.position === 0) return state !== undefined && state !== 'replaced';
    return state === 'alive' || state === 'reported';
  }

  /** Names of detectors are names of metrics, too. */
  #checkDetector(detector: string): void {
    if (this.#init.detectors.some(({ name }) => name === detector)) return;
    throw new StciError('STCI_MESSAGE_INVALID', `Expected a detector of this session, got ${detector}`);
  }

  #take(notice: Evidence): void {
    const member = memberOf(notice.subject);
    const news = this.board.take(notice);
    if (news === 'known') return;
    if (member !== undefined && this.#isSelf(member)) return;
    if (member !== undefined) this.#init.overlay.members.lose(member, 'reported');
    this.#events.onNotice(notice, news);
  }

  #isSelf({ position, incarnation }: MemberId): boolean {
    const { self } = this.#init.overlay;
    return position === self.position && incarnation === self.incarnation;
  }

  #onFenced(notice: Evidence | undefined): void {
    this.stop();
    const why = notice === undefined ? '' : `: ${memberName(notice.reporter)} reports (detector ${notice.detector}) `
      + notice.evidence;
    this.#events.onFenced(`the controller has given this agent up${why}`);
  }

  #onMember({ member, state, before }: MemberChange): void {
    if (isLiving(state)) {
      // Also where its report did not count: it, and who reported it, may watch others since.
      this.#detectors.on({ type: state === 'refuted' ? 'refuted' : 'joined', member });
      if (state === 'alive' || !isLiving(before)) this.#notifiers.on({ type: 'joined', member });
    } else if (isLiving(before)) {
      this.#notifiers.on({ type: 'gone', member });
      this.#detectors.on({ type: 'gone', member });
    }
  }

  /** It was not heard here, and lives. */
  #checkLink(position: Position): void {
    if (this.#suspected.delete(position)) this.#init.overlay.checkLink(position);
  }

  #onRefuted(member: MemberId): void {
    const { position, incarnation } = member;
    this.board.withdraw({ kind: 'host', host: bootHost(position), incarnation });
    if (this.#init.overlay.members.refute(member)) this.#checkLink(position);
  }

  /** Its sender is at fault, and is named once. */
  #onMalformed(what: string, event: DetectorEvent | NotifierEvent, error: StciError): void {
    this.#init.metrics?.count('messages_malformed', 1);
    if (event.type !== 'message' || this.#faulty.has(event.from.position)) return;
    this.#faulty.add(event.from.position);
    this.#events.onFault(error, `message of ${memberName(event.from)} to ${what}`);
  }

  /** What has no route is lost: its destination is about to be reported. */
  #onSent(error: StciError | undefined): void {
    if (error !== undefined) this.#init.metrics?.count('messages_unsent', 1);
  }
}
