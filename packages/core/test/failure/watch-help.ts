/** Failure watches of several agents over a network that delivers at once, for tests. */

import {
  StciError, type Detector, type DetectorAction, type DetectorEvent, type DetectorModule,
  type MemberId, type NotifierModule,
} from '@stci/interface';
import { FailureWatch } from '../../dist/failure/watch.js';
import { MemberView, isLiving } from '../../dist/members/view.js';
import type { Overlay, OverlayEvents } from '../../dist/peers/contracts.js';
import type { TestPlace } from '../world.js';

export const idOf = (position: number, incarnation = position === 0 ? 0 : 1): MemberId => ({ position, incarnation });

/** Reports or sends what it is told to; keeps what it sees. */
export class ScriptedDetector implements Detector {
  dueMs: number | undefined;
  readonly seen: string[] = [];
  next: DetectorAction[] = [];
  fault: Error | undefined;

  on(event: DetectorEvent): readonly DetectorAction[] {
    const { type } = event;
    this.seen.push('member' in event ? `${type} ${event.member.position}` : type);
    if (this.fault !== undefined) throw this.fault;
    if (type === 'due') this.dueMs = undefined;
    return this.next.splice(0);
  }
}

/** From the source to each member that lives. */
export const directNotifier: NotifierModule = {
  topology: '',
  promise: () => ({ steps: 1, delayMs: 0, messages: 0, tolerates: 0, isUniform: false, text: '' }),
  open: ({ self, members }) => ({
    dueMs: undefined,
    on: (event) => {
      if (event.type === 'message') return [{ type: 'deliver', source: event.from, payload: event.body as Uint8Array }];
      if (event.type !== 'broadcast') return [];
      const others = members.living().filter(({ position }) => position !== self.position);
      return others.map(({ position: to }) => ({ type: 'send', to, body: event.payload }));
    },
  }),
};

export interface Agent {
  readonly watch: FailureWatch;
  readonly detector: ScriptedDetector;
  readonly told: string[];
  readonly gone: string[];
  /** To whom it sent. */
  readonly sent: number[];
  /** What its overlay does with links. */
  readonly links: string[];
}

/** `openMs`: how long their overlay takes to open. */
export function network(place: TestPlace, count: number, openMs = 0): Agent[] {
  const agents: Agent[] = [];
  const members = Array.from({ length: count }, (_, position) => idOf(position));
  for (const self of members) agents.push(makeAgent(place, agents, self, members, directNotifier, openMs));
  for (const { watch } of agents) watch.start(members);
  return agents;
}

export function makeAgent(
  place: TestPlace, agents: Agent[], self: MemberId, members: readonly MemberId[], notifier = directNotifier,
  openMs = 0,
): Agent {
  const told: string[] = [];
  const gone: string[] = [];
  const sent: number[] = [];
  const links: string[] = [];
  const send = (to: number, _name: string, body: unknown): StciError | undefined => {
    if (to >= members.length) return new StciError('STCI_MESSAGE_UNROUTABLE', 'no way');
    sent.push(to);
    place.world.at(place.world.nowMs + 1, () => agents[to]?.watch.onMessage(self.position, body as never));
    return undefined;
  };
  const view = new MemberView(self, members);
  view.observe(({ member: { position }, state, before }) => {
    const [was, is] = [isLiving(before), isLiving(state)];
    if (was && !is) gone.push(`gone ${position}`);
    if (is && (!was || state === 'alive')) links.push(`open ${position}`);
    if (state === 'gone') links.push(`closed ${position}`);
  });
  const overlay: Overlay = {
    self, members: view, topology: undefined, isLinked: () => true,
    set events(_events: OverlayEvents) { /* Links are others' concern. */ },
    send, sendReliably: send,
    checkLink: (position) => void links.push(`checked ${position}`),
    whenOpen: (call: () => void) => openMs === 0 ? call() : place.world.at(place.world.nowMs + openMs, call),
  };
  const detector = new ScriptedDetector();
  const module: DetectorModule = {
    watches: 'agents', topology: '', metrics: {},
    promise: () => ({ detection: { minMs: 5, maxMs: 9 }, messagesPerSecond: 0, bytesPerSecond: 0, text: '' }),
    open: () => detector,
  };
  const watch = new FailureWatch(
    {
      clock: place.platform.clock, overlay, overlayTopology: '', random: () => 0.5,
      promiseRequest: (size) => ({ members: size, latencyBoundMs: 0, answerMs: 0 }),
      detectors: [{ name: 'scripted', module, notifier: 'direct', isNamed: true }],
      notifier: () => notifier,
      topologyOf: () => { throw new Error('no topology'); },
    },
    {
      onSuspected: ({ position }) => void told.push(`suspected ${position}`),
      onNotice: ({ subject }, news) => void told.push(`${news} ${subject.kind} ${subject.host}`),
      onFenced: (reason) => void told.push(`fenced: ${reason}`),
      onCutOff: (evidence) => void told.push(`cut off: ${evidence}`),
      onFault: (error, where) => void told.push(`${where}: ${error.code} ${error.message}`),
    },
  );
  return { watch, detector, told, gone, sent, links };
}

export function reportOf(position: number, incarnation?: number): DetectorAction {
  const failed = idOf(position, incarnation);
  return { type: 'report', failed, cause: 'silent', evidence: 'no heartbeat for 9 ms', suspectedMs: 0 };
}

export function cause(agent: Agent | undefined, ...actions: DetectorAction[]): void {
  agent?.detector.next.push(...actions);
  agent?.watch.waiting(1, 'all'); // Any event makes it act.
}
