/**
 * Framework `launcher` (STCI paper, II-C), mode one: the policy, who starts whom. Its own parameters say how agents
 * are embodied and how long their start and stop may take; every policy obeys them.
 */

import { AGENT_METHODS, defineFramework, param } from '@stci/interface';
import type { AgentMethod, Launcher, NoDeps, Params } from '@stci/interface';

const EMBODIED = "a process of its own, an object in its parent's process, or a worker thread. A process fails alone; "
  + 'inline is the quickest and smallest.';

/** What root agents are; `auto`, which a front-end decides for its own, is a process. */
export function rootMethod(params: Params): AgentMethod {
  const method = params.string('launcher.root.method');
  return AGENT_METHODS.find((known) => known === method) ?? 'process';
}

export const launcherFramework = defineFramework<Launcher, NoDeps>({
  name: 'launcher',
  mode: 'one',
  version: 1,
  help: 'Launch policy: which agent starts which others.',
  params: {
    'root.method': param.choice('auto', ['auto', ...AGENT_METHODS], `What a root agent is: ${EMBODIED} auto: inline `
      + "where it is stcirun's only one, on this machine; else a process."),
    'session.method': param.choice('inline', AGENT_METHODS, `What a session agent is: ${EMBODIED}`),
    window: param.int(8, [1, 1024], 'Children that one agent starts at the same time, at most: fewer where it waits '
      + 'for the processor itself, or starts take long. More is quicker until the processor or the login service is '
      + 'busy.'),
    handshake: param.duration(10_000, [10, 3_600_000], 'How long the start of a child may show no progress (a phase of '
      + 'the login, a first answer) before it counts as failed; up to three times as long where starts are seen to be '
      + 'slow. A whole start takes six times as long at most. Longer waits for slow hosts, shorter tells of dead ones '
      + 'sooner.'),
    stop: param.duration(5000, [10, 3_600_000], 'How long an agent waits, beyond tool.grace and for each level of '
      + 'agents below it, for its children to end before it ends them by force.'),
  },
});
