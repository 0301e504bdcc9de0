/** What agents of each role can do for a fault. */

import type { Rank } from '@stci/interface';
import type { FaultHands } from './fault-site.js';
import type { AgentNode } from './node.js';
import type { ProgramPort } from './program-port.js';
import type { Tool } from './tool.js';

export interface ToolHandsInit {
  /** The process of a rank that runs here. */
  toolOf(rank: Rank): Tool | undefined;
  /** For programs that use the client library, while there is a job. */
  programs(): ProgramPort | undefined;
}

/** Of a session agent. */
export function toolHands({ toolOf }: ToolHandsInit): FaultHands {
  return {
    signal: ({ ranks, signal, whom }, _order, done) => {
      const ended = ranks.filter((rank) => toolOf(rank)?.signal(signal, whom) !== true);
      done(ended.length === 0 ? undefined : `rank ${ended.join(', ')} does not run here any more`);
    },
  };
}

/** Of the controller and of root agents: at their links to each other. */
export function linkHands({ linkFaults }: AgentNode): Pick<FaultHands, 'impair' | 'restore' | 'close'> {
  return {
    impair: ({ peers, how }, { id }, done) => {
      linkFaults.impair(peers, how, id);
      done();
    },
    restore: ({ peers }, { id }, done) => {
      linkFaults.restore(peers, id);
      done();
    },
    close: ({ peers }, _order, done) => done(linkFaults.close(peers) > 0 ? undefined : 'there is no link to close'),
  };
}
