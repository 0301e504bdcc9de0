/** Names of the built files that are the agent; they lie beside each other (scripts/bundle.mjs makes them). */

/** What this machine starts. */
export const AGENT_MAIN = 'agent.cjs';

/** Shell script that becomes it, and holds its guardian and pipes: arguments are Node, AGENT_MAIN and its own. */
export const AGENT_SHELL = 'agent.sh';

/** The same agent in one piece, for hosts that have nothing of ours. */
export const AGENT_BUNDLE = 'agent.bundle.cjs';
