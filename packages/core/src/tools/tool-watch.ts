/**
 * Tool watch, at a session agent: the detectors of tools, and what they report to the root agent of the host. They are
 * made when a tool fails, or promises a sign of life.
 */

import type { DetectorAction, DetectorEvent, Params, Rank, Timer } from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import { MachineDriver } from '../event/machine-driver.js';
import { endText } from '../job/exit-rule.js';
import { MemberView } from '../members/view.js';
import type { ToolEvidence } from '../messages/failure-shapes.js';
import { countAction } from '../metrics/actions.js';
import type { AgentNode } from '../node/node.js';
import type { ToolEnd } from './tool.js';

export interface ToolWatchInit {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  /** Of the rank's last process. */
  attemptOf(rank: Rank): number;
  /** A tool that runs is to be ended: it did not give the sign of life that it had promised. */
  onStuck(rank: Rank, evidence: string): void;
}

type Report = Extract<DetectorAction, { readonly type: 'report' }>;

/** What is slow waits so long after the news of a failure: it takes a few turns of two agents to leave this process. */
const NEWS_MS = 20;
/** What keeps this host busy waits until the other agents, which may run on it, too, have been told. */
const TOLD_MS = 100;

export class ToolWatch {
  readonly #init: ToolWatchInit;
  #driver: MachineDriver<DetectorEvent, DetectorAction> | undefined;
  /** When the operating system said so. */
  readonly #failedWallMs = new Map<Rank, number>();
  #found: ToolEvidence[] = [];
  #isPrepared = false;
  /** When a failure was reported to somebody who wants to know at once. */
  #newsMs = -Infinity;
  /** What waits until it has left. */
  readonly #waiting = new Map<Timer, () => void>();

  constructor(init: ToolWatchInit) {
    this.#init = init;
  }

  /** If somebody wants to know at once what fails, detectors are made before, and nothing slow delays the news. */
  prepare(params: Params): void {
    const isOverlay = params.string('overlay.topology') !== '';
    this.#isPrepared = isOverlay || params.bool('client.enable') || params.list('detector').length > 0;
    if (this.#isPrepared) this.#driver ??= this.#open();
  }

  /** Calls it in a later turn; if a failure has just been reported, when the news has left, or has been told to all. */
  afterNews(call: () => void, isBusy = false): void {
    const { clock } = this.#init.node.platform;
    const leftMs = this.#newsMs + (isBusy ? TOLD_MS : NEWS_MS) - clock.nowMs();
    if (leftMs <= 0) return clock.soon(call);
    const timer = clock.after(leftMs, () => {
      this.#waiting.delete(timer);
      call();
    });
    this.#waiting.set(timer, call);
  }

  onEnded({ rank, outcome, end, error, endWallMs }: ToolEnd): void {
    const isSignal = outcome === 'signalled';
    const isFailure = isSignal || (outcome === 'exited' && end?.status !== 0);
    if (this.#driver === undefined && !isFailure) return;
    if (isFailure) this.#failedWallMs.set(rank, endWallMs);
    const evidence = endText({ outcome, end, error });
    this.#on({ type: 'tool-ended', rank, isFailure, evidence, isSignal });
  }

  onAlive(rank: Rank, withinMs: number): void {
    this.#on({ type: 'tool-alive', rank, withinMs });
  }

  /** Nothing waits for news any more. */
  stop(): void {
    this.#driver?.stop();
    this.#newsMs = -Infinity;
    for (const [timer, call] of this.#waiting) {
      timer.cancel();
      this.#init.node.platform.clock.soon(call);
    }
    this.#waiting.clear();
  }

  #on(event: DetectorEvent): void {
    this.#driver ??= this.#open();
    this.#driver.on(event);
    const ranks = this.#found.splice(0);
    const parent = this.#init.node.router.parentLink;
    if (ranks.length === 0 || parent === undefined) return;
    const { messages, platform } = this.#init.node;
    messages.sendNeighbour(parent, 'failure.report', { ranks });
    if (this.#isPrepared) this.#newsMs = platform.clock.nowMs();
  }

  #open(): MachineDriver<DetectorEvent, DetectorAction> {
    const { node, scope } = this.#init;
    const { clock, random, env } = node.platform;
    const driver = new MachineDriver<DetectorEvent, DetectorAction>(clock, 'Detector', {
      onAction: (name, action, nowMs) => {
        countAction(node.metrics, name, action);
        if (action.type === 'report') this.#onReport(name, action, nowMs);
      },
      onLate: (lagMs) => {
        driver.on({ type: 'lag', lagMs });
        node.metrics.count('lag_ms', lagMs);
      },
      onFault: (name, error) => node.fault(error, `detector ${name}`),
    });
    const generator = random.fork(`detectors of ${node.name} on ${env.hostname}`);
    const self = { position: 0, incarnation: 0 };
    const members = new MemberView(self);
    for (const { name, module } of scope.detectors()) {
      if (module.watches !== 'tools') continue;
      const init = { self, members, topologyOf: undefined, answerMs: 0, random: () => generator.uniform() };
      driver.add(name, module.open(init));
    }
    driver.on({ type: 'start' });
    return driver;
  }

  #onReport(detector: string, { failed, cause, evidence, suspectedMs }: Report, nowMs: number): void {
    if (!('rank' in failed)) return;
    const { rank } = failed;
    const confirmedWallMs = this.#init.node.platform.clock.wallMs();
    const suspectedWallMs = Math.max(0, confirmedWallMs - Math.max(0, nowMs - suspectedMs));
    const failedWallMs = this.#failedWallMs.get(rank);
    this.#failedWallMs.delete(rank);
    const attempt = this.#init.attemptOf(rank);
    this.#found.push({
      rank, attempt, cause, evidence, detector, failedWallMs, suspectedWallMs, confirmedWallMs,
    });
    if (cause === 'watchdog') this.#init.onStuck(rank, evidence);
  }
}
