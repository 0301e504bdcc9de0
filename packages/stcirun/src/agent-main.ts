/**
 * The agent's main: a process (or thread) that stcirun or another agent starts. First only what the link to the
 * parent needs; the rest is loaded once that is up. A user never starts it by hand.
 */

import { runAgent, type AgentMainInit } from '@stci/core/main';
import {
  createNodePlatform, drainStdin, openAgentChannel, releaseStdio, type NodePlatform, type ShippedBundle,
} from '@stci/platform-node';
import { EXIT, StciError, printable, type AgentWait } from '@stci/interface';
import { agentFiles } from './agent/agent-files.js';
import { watchBatchSignals } from './agent/batch-signals.js';
import { refuseDebugger } from './process/no-debugger.js';
import { AGENT_THREADS, checkProcessLimit } from './process/process-limit.js';

const KEY = Symbol.for('stci.shippedBundle');

/** What the bundle was shipped as (launcher-ssh); one that is installed here has none. */
const shipped = (globalThis as { [KEY]?: ShippedBundle })[KEY];

function main(): void {
  checkProcessLimit('an agent', AGENT_THREADS);
  const platform = createNodePlatform({
    ...agentFiles(__dirname),
    agentMain: __filename,
    shipped,
    held: shipped === undefined ? process.argv[2] : shipped.held,
  });
  const waits = shipped?.waits;
  if (waits === undefined) return run(platform, { channel: openAgentChannel(), waitMs: shipped?.waitMs });
  let onStdinEnd = (): void => undefined;
  drainStdin(() => onStdinEnd());
  void import('@stci/core/await-parent').then(({ awaitParent }) => {
    const say: AgentWait['say'] = (addresses) => {
      waits.say(addresses);
      setImmediate(prepare, platform);
    };
    const { channel, giveUp } = awaitParent(platform, { ...waits, say });
    onStdinEnd = () => giveUp('what started this agent has ended');
    // Its standard streams are those of all agents that were started together: it has nothing to release.
    run(platform, { channel, waitMs: waits.waitMs, listens: waits, release: () => undefined });
  });
}

/** Loads and creates what the agent will need, while it waits for the agent above it. */
function prepare({ processes }: NodePlatform): void {
  void import('./agent/role.js').then(() => processes.prepare());
}

type Start = Pick<AgentMainInit, 'channel' | 'waitMs' | 'listens' | 'release'>;

function run(platform: NodePlatform, start: Start): void {
  watchBatchSignals(process.env, () => agent);
  const agent = runAgent({
    platform,
    release: releaseStdio,
    ...start,
    plugins: (...boot) => {
      const fail = (reason: string): void => agent.fail(reason);
      void import('./agent/take-plugins.js').then(({ takePlugins }) => takePlugins(platform, fail, ...boot));
    },
    load: (done) => {
      void import('./agent/role.js').then(({ startRole }) => done(startRole));
    },
    exit: ({ failed, reason }) => {
      if (failed) platform.log.write('warn', `agent ended: ${reason}`);
      process.exit(failed ? EXIT.agentLost : 0);
    },
  });
}

refuseDebugger();
// A login that closes may send it to all its processes. What the loss of the parent means is the role's decision.
process.on('SIGHUP', () => undefined);
try {
  main();
} catch (thrown) {
  if (!(thrown instanceof StciError)) throw thrown;
  process.stderr.write(`stci: ${printable(thrown.message)}\n`);
  process.exitCode = thrown.exitCode;
}
