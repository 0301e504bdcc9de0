/** What agents are told of others, as the failure watch does it: the view of the members changes first. */

import type { MemberView } from '@stci/core/component';
import type { DetectorEvent, NotifierEvent } from '@stci/interface';

/** False: it changes nothing, and is not passed on. */
export function hear(members: MemberView, event: DetectorEvent | NotifierEvent): boolean {
  switch (event.type) {
    case 'joined':
      return members.join(event.member);
    case 'refuted':
      return members.refute(event.member);
    case 'gone': {
      const wasAlive = members.at(event.member.position) !== undefined;
      return members.lose(event.member, 'reported') && wasAlive;
    }
    default:
      return true;
  }
}
