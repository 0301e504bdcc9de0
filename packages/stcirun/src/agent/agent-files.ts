/** Names of the built files that are the agent; they lie beside each other (scripts/bundle.mjs makes them). */

import { join } from 'node:path';
import type { NodePlatformOptions } from '@stci/platform-node';

/** What this machine starts. */
export const AGENT_MAIN = 'agent.cjs';

/** Shell script that becomes it, and holds its guardian and pipes: arguments are Node, AGENT_MAIN and its own. */
export const AGENT_SHELL = 'agent.sh';

/** The same agent in one piece, for hosts that have nothing of ours. */
export const AGENT_BUNDLE = 'agent.bundle.cjs';

/** What a platform starts agents from, whose files are in `directory`. */
export function agentFiles(directory: string): Pick<NodePlatformOptions, 'agentCommand' | 'agentMain' | 'agentBundle'> {
  return {
    agentCommand: localCommand(directory),
    agentMain: join(directory, AGENT_MAIN),
    agentBundle: join(directory, AGENT_BUNDLE),
  };
}

/**
 * The command of an agent of this machine, whose files are in `directory`. Below a tool of another run there is no
 * shell: the guardian that it makes would carry the mark of that run's tools, and end with them.
 */
function localCommand(directory: string): readonly string[] {
  const agent = [process.execPath, `${directory}/${AGENT_MAIN}`];
  return process.env['STCI_GUARD'] === undefined ? ['/bin/sh', `${directory}/${AGENT_SHELL}`, ...agent] : agent;
}
