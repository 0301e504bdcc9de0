/** An agent that runs as an object in its parent's process, linked by a memory channel (STCI paper, III-C). */

import {
  addressName,
  type AgentProcess,
  type AgentProcessEvents,
  type AgentStart,
  type Platform,
} from '@stci/interface';
import { memoryChannel } from '../bootcom/memory-channel.js';
import { runAgent, type RoleFactory } from './main.js';

export function startInline(
  platform: Platform,
  start: RoleFactory,
  what: AgentStart,
  events: AgentProcessEvents,
): AgentProcess {
  const name = addressName(what.address);
  const [ours, theirs] = memoryChannel(platform.clock, `inline ${name}`, `parent of ${name}`);
  let over = false;
  const agent = runAgent({
    platform,
    channel: theirs,
    load: (done) => done(start),
    exit: (end) => {
      if (over) return;
      over = true;
      if (end.failed) events.onDiagnostic(end.reason);
      events.onExit({ status: end.failed ? 1 : 0 });
    },
  });
  return { pid: platform.env.pid, channel: ours, kill: () => agent.abort('killed by its parent') };
}
