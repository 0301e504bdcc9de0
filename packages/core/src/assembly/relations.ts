/** Every relation between the runtime's parameters. */

import type { ParamRelation } from '@stci/registry';

export const builtinRelations: readonly ParamRelation[] = [
  {
    lower: 'event.turn.max',
    upper: 'event.queue.max',
    why: 'a turn could handle more than may ever wait',
    follows: false,
  },
  {
    lower: 'bootcom.frame.max',
    upper: 'bootcom.queue.max',
    why: 'a queue could not hold one frame, and its link would be lost',
    follows: false,
  },
  {
    lower: 'message.bytes.max',
    upper: 'bootcom.queue.max',
    why: 'a queue could not hold one message, and its link would be lost',
    follows: true,
  },
  {
    lower: 'iof.window',
    upper: 'bootcom.queue.max',
    why: 'output within its window could fill half a queue, from which on links from below are not read',
    follows: true,
    times: 2,
  },
  {
    lower: 'launcher.window',
    upper: 'bootcom.pending.max',
    why: 'children that connect at the same time could evict one another',
    follows: true,
  },
  {
    lower: 'iof.drain',
    upper: 'launcher.stop',
    why: 'an agent could be ended by force while it still awaits output',
    follows: true,
  },
];
