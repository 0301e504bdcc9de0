/**
 * Detector `link` (Kharbas' connection detector): a link that ends without goodbye, by its other end or by silence for
 * the lease (`bootcom.lease`), makes its peer suspect. A broken connection is not a dead agent, so the peer is asked
 * over other routes, and reported if no answer comes.
 */

import { accept, builtinComponent } from '@stci/interface';
import type {
  Detector, DetectorAction, DetectorEvent, DetectorModule, FailureCause, LinkCloseReason, MemberId, Members, ParamValue,
} from '@stci/interface';
import { durationParam, notifierParam } from './component.js';
import { detectorFramework } from './framework.js';
import { PROBE_METRICS, Prober, readProbe } from './prober.js';

/** Reasons that say nothing about the peer are missing: it, or this agent, meant the link to end. */
const CAUSES: Readonly<Partial<Record<LinkCloseReason, FailureCause>>> = {
  lost: 'closed',
  silent: 'silent',
  timeout: 'unreachable',
  protocol: 'malformed',
};

class LinkDetector implements Detector {
  readonly #members: Members;
  readonly #prober: Prober;

  constructor(members: Members, timeoutMs: number) {
    this.#members = members;
    // Three attempts: a message may be lost with the route that it took.
    this.#prober = new Prober({ periodMs: Math.ceil(timeoutMs / 3), timeoutMs, confirmMs: timeoutMs });
  }

  get dueMs(): number | undefined {
    return this.#prober.dueMs;
  }

  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[] {
    switch (event.type) {
      case 'link':
        return event.state === 'up' ? this.#trust(event.peer, nowMs) : this.#onClosed(event, nowMs);
      case 'message': {
        const actions = this.#prober.on(event.from, readProbe(event.body), nowMs);
        this.#prober.unwatch(event.from.position);
        return actions;
      }
      case 'joined':
      case 'gone':
      case 'refuted':
        if (event.type !== 'refuted') this.#prober.unwatch(event.member.position);
        return [];
      case 'lag':
        this.#prober.onLag(event.lagMs);
        return [];
      case 'due':
        return this.#prober.onDue(nowMs);
      default:
        return [];
    }
  }

  #onClosed({ peer, reason, text }: Extract<DetectorEvent, { state: 'closed' }>, nowMs: number): DetectorAction[] {
    const cause = CAUSES[reason];
    if (cause === undefined || !this.#members.has(peer)) return [];
    const evidence = text === '' ? `its link ended (${reason})` : text;
    this.#prober.watch(peer, nowMs, { cause, evidence });
    return [{ type: 'suspect', member: peer, evidence }];
  }

  /** As a sign of life does. */
  #trust(peer: MemberId, nowMs: number): DetectorAction[] {
    const actions = this.#prober.on(peer, undefined, nowMs);
    this.#prober.unwatch(peer.position);
    return actions;
  }
}

function createLink(params: Readonly<Record<string, ParamValue>>): DetectorModule {
  const timeoutMs = params['timeout'] as number;
  return {
    watches: 'agents',
    topology: '',
    metrics: PROBE_METRICS,
    promise: ({ latencyBoundMs }) => ({
      detection: { minMs: timeoutMs, maxMs: timeoutMs + latencyBoundMs },
      leadMs: timeoutMs,
      messagesPerSecond: 0,
      bytesPerSecond: 0,
      text: `An agent whose link ends is suspected at once, and reported if it does not answer within ${timeoutMs} ms; `
        + 'a link that is cut off ends after its lease (bootcom.lease).',
    }),
    open: ({ members }) => new LinkDetector(members, timeoutMs),
  };
}

export const detectorLink = builtinComponent({
  framework: detectorFramework,
  name: 'link',
  help: 'Agents whose link ended without goodbye, or was silent for its lease. Runs always.',
  params: {
    notifier: notifierParam,
    timeout: durationParam(2000, 'How long an agent whose link ended is asked over other routes before it is reported. '
      + 'Longer forgives a busy network, shorter finds dead agents sooner.', 10),
  },
  query: () => accept(70),
  create: (_deps, params) => createLink(params),
});
