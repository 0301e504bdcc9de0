/**
 * Collections: what agents contribute comes up the boot tree to the controller. It asks its children, each agent those
 * below it, and passes on what they and itself contribute, in pieces, as one answer. Each agent waits for a shorter
 * time than the one that asks it, so that a silent one costs no other's part; the end of a link ends the part of those
 * below at once. An agent that is linked to another meanwhile may be asked by both: the controller takes each once.
 */

import { StciError, addressName, agentKey, agentName, type Address, type JobId, type Params } from '@stci/interface';
import { Later, type Answer } from '../am/answer.js';
import type { MessageLayer } from '../am/message-layer.js';
import type { Router } from '../am/router.js';
import type { Link } from '../bootcom/link.js';
import type { AgentOfJob } from '../messages/collected.js';
import { collectsFrom, type CollectionName, type Contribution, type MessageBody } from '../messages/messages.js';
import { Pieces } from './pieces.js';

/** How long the controller waits, unless it says otherwise. */
const WITHIN_MS = 2000;

/** What it needs of its agent. */
export interface CollectsInit {
  readonly params: Params;
  readonly messages: MessageLayer;
  readonly router: Router;
  /** Whether an agent is at or below the one at the other end of a link. */
  leadsTo(agent: Address, job: JobId, link: Link): boolean;
  /** Levels of agents below the controller. */
  levels(): number;
}

export interface Collecting<Name extends CollectionName> {
  /** Whoever takes longer is silent. */
  readonly withinMs?: number;
  /** The job that it is about; default: all of the session. */
  readonly job?: JobId;
  /** Of one of those that are asked for, once each, as it comes. */
  onEach(contribution: Contribution<Name>, agent: AgentOfJob): void;
  /** Once: names of those that have not answered. */
  onDone(silent: readonly string[]): void;
}

type Contributions<Name extends CollectionName> = readonly (readonly [Address, JobId, Contribution<Name>])[];

/** How long the agents below are waited for, and by how much less each waits for those below it. */
interface Times {
  readonly withinMs: number;
  readonly stepMs: number;
}

interface Below<Name extends CollectionName> {
  onSome(some: Contributions<Name>): void;
  onAll(): void;
}

export class Collects {
  readonly #init: CollectsInit;

  constructor(init: CollectsInit) {
    this.#init = init;
  }

  /** This agent takes part, with what `own` returns; undefined: it only passes on what others say. */
  on<Name extends CollectionName>(name: Name, own: () => Contribution<Name> | undefined): void {
    const { messages, router: { self, job: ownJob }, params } = this.#init;
    messages.on(name, ({ withinMs, stepMs }, { job }) => new Later<Name>((answer) => {
      const pieces = new Pieces<readonly [Address, JobId, Contribution<Name>]>(
        params.int('message.bytes.max'), (piece) => this.#pass(piece, answer));
      const contribution = own();
      if (contribution !== undefined) pieces.add([[self, ownJob, contribution]]);
      this.#askBelow(name, { withinMs: Math.max(0, withinMs - stepMs), stepMs }, job, {
        onSome: (some) => pieces.add(some),
        onAll: () => answer.done(pieces.take() as never),
      });
    }));
  }

  /** What comes of those below faster than the parent takes it would be in the way of all that it waits for. */
  #pass<Name extends CollectionName>(piece: Contributions<Name>, answer: Answer<Name>): void {
    const { router: { parentLink }, params } = this.#init;
    if ((parentLink?.queuedBytes ?? 0) <= params.int('bootcom.queue.max') / 2) return answer.part(piece as never);
    const text = 'More is contributed at once than the link to the parent takes (bootcom.queue.max)';
    answer.fail(new StciError('STCI_MESSAGE_WINDOW', text));
  }

  /** At the controller: asks these agents, and all between. */
  ask<Name extends CollectionName>(name: Name, agents: readonly AgentOfJob[], collecting: Collecting<Name>): void {
    const { withinMs = WITHIN_MS, job = 0, onEach, onDone } = collecting;
    const awaited = new Map(agents.map((agent) => [agentKey(...agent), agent]));
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      onDone([...awaited.values()].map((agent) => agentName(...agent)));
    };
    if (awaited.size === 0) return end();
    // The last level waits half of the time.
    const stepMs = Math.floor(withinMs / (2 * this.#init.levels()));
    this.#askBelow(name, { withinMs, stepMs }, job, {
      onSome: (some) => {
        for (const [address, ofJob, contribution] of some) {
          const agent = awaited.get(agentKey(address, ofJob));
          if (isOver || agent === undefined) continue;
          awaited.delete(agentKey(address, ofJob));
          onEach(contribution, agent);
        }
        if (awaited.size === 0) end();
      },
      onAll: end,
    });
  }

  #askBelow<Name extends CollectionName>(
    name: Name, times: Times, job: JobId, { onSome, onAll }: Below<Name>,
  ): void {
    const { messages, router } = this.#init;
    const links = router.links().filter((link) => link.role === 'child' && takesPart(name, job, link));
    let open = links.length;
    if (open === 0) return onAll();
    for (const link of links) {
      const onPart = (part: unknown): void => onSome(this.#checked(part as Contributions<Name>, link));
      const onReply = (error: StciError | undefined, reply: unknown): void => {
        try {
          if (error === undefined) onPart(reply);
        } finally {
          open -= 1;
          if (open === 0) onAll();
        }
      };
      const about = link.job === 0 ? job : link.job;
      const options = { link, onPart, job: about, timeoutMs: times.withinMs };
      messages.request(link.peer, name, times as MessageBody<Name>, onReply, options);
    }
  }

  /** Throws STCI_MESSAGE_INVALID, which costs the one that says it its link, for what is said of others. */
  #checked<Name extends CollectionName>(some: Contributions<Name>, link: Link): Contributions<Name> {
    for (const [agent, job] of some) {
      if (this.#init.leadsTo(agent, job, link)) continue;
      const text = `${addressName(link.peer)} may not contribute for ${agentName(agent, job)}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    return some;
  }
}

function takesPart(name: CollectionName, job: JobId, link: Link): boolean {
  return link.job === 0 || (collectsFrom(name) === 'all' && (job === 0 || job === link.job));
}
