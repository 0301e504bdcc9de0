/**
 * What the controller tells all members of one another: who is dead, lives all the same, has left, takes part anew. The
 * first change is told at once; those that come while the members are told are told together after a pause that is as
 * long as that takes. So many hosts that change at once cost the controller half of its time at most, and not a message
 * for each of them to each of the others.
 */

import { bootHost, rootAddress, type MemberId } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';

/** Time to make and send one message, ms. */
const MS_A_MEMBER = 0.05;

export type MemberNews = MessageBody<'failure.changes'>['changes'][number];

export class MemberChanges {
  readonly #node: AgentNode;
  readonly #members: () => readonly MemberId[];
  #waiting: MemberNews[] = [];
  readonly #timers: Timers<'pause'>;

  constructor(node: AgentNode, holds: Scope, members: () => readonly MemberId[]) {
    this.#node = node;
    this.#members = members;
    this.#timers = new Timers(node.platform.clock, holds);
  }

  /** All are told but the one that has changed. */
  tell(change: MemberNews): void {
    this.#waiting.push(change);
    if (!this.#timers.has('pause')) this.#send();
  }

  #send(): void {
    const changes = this.#waiting.splice(0);
    if (changes.length === 0) return;
    const members = this.#members();
    const changed = new Set(changes.map(({ member }) => member.position));
    for (const { position } of members) {
      if (position === 0) continue;
      const others = changed.has(position) ? changes.filter(({ member }) => member.position !== position) : changes;
      if (others.length === 0) continue;
      this.#node.messages.sendList(rootAddress(bootHost(position)), 'failure.changes', others, (part) => ({
        changes: [...part],
      }));
    }
    this.#timers.set('pause', Math.ceil(members.length * MS_A_MEMBER), () => this.#send());
  }
}
