/**
 * Launch method `remote` of the simulation: each root agent on the simulated host of its host's name, by a
 * remote login program `login HOST DELAY COMMAND…`, which relays standard streams as a real one does. What a start
 * costs can be set: how long a login takes, and how much later an agent's next one begins. An agent that runs is
 * reached by the command `stci-join PATH`, which says on standard error how that went.
 */

import { accept, defineComponent, launcherprocFramework } from '@stci/core/component';
import type {
  AgentProcess,
  AgentProcessEnd,
  AgentProcessEvents,
  Channel,
  Clock,
  ErrorRecord,
  Platform,
  ProcessEnd,
  ReachFailure,
} from '@stci/interface';
import type { AgentContext } from '@stci/platform-sim';

const LOGIN_FAILED = 255;
/** Status for a program that was ended by a signal. */
const KILLED = 137;
const JOIN = 'stci-join';
/** Default deadline of a connection to an agent that runs. */
const REACH_MS = 8000;
/** How long the last data of a program that has ended may be under way. */
const LAST_DATA_MS = 1000;

export const launcherRemote = defineComponent({
  framework: launcherprocFramework,
  name: 'remote',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Agents on simulated hosts, by a simulated remote login.',
  params: {
    login: { type: 'duration', default: 0, min: 0, max: 3_600_000, help: 'How long a login takes.' },
    gap: { type: 'duration', default: 0, min: 0, max: 3_600_000, help: 'Between the starts of one agent.' },
  },
  query: () => accept(1),
  create: ({ platform, inline }, params) => {
    const delay = createDelay(platform.clock, params['login'] as number, params['gap'] as number);
    return {
      name: 'remote',
      start: (start, events) =>
        start.method === 'inline'
          ? inline(start, events)
          : platform.processes.spawnAgent('process',
            ['login', start.host.name, String(delay()), ...platform.processes.agentCommand, String(start.waitMs)],
            { ...events, onExit: (end) => events.onExit({ ...end, evidence: evidenceOf(end) }) }),
      reach: ({ host, path, waitMs }, events) =>
        reachRemote(platform, ['login', host.name, String(delay()), JOIN, path], waitMs ?? REACH_MS, events),
    };
  },
});

/** Time until a login is over that begins when its starter is free, ms. */
function createDelay(clock: Clock, loginMs: number, gapMs: number): () => number {
  let freeMs = 0;
  return () => {
    const nowMs = clock.nowMs();
    const startMs = Math.max(nowMs, freeMs);
    freeMs = startMs + gapMs;
    return startMs - nowMs + loginMs;
  };
}

/** A login that knows how its program ended has another status than its own. */
function evidenceOf({ status }: ProcessEnd): AgentProcessEnd['evidence'] {
  return status === undefined || status === LOGIN_FAILED ? 'connection' : 'process';
}

/** How long an agent that such a login has started waits for its boot record; undefined for any other. */
export function bootWaitMs({ args }: AgentContext): number | undefined {
  const waitMs = Number(args[0]);
  return waitMs > 0 ? waitMs : undefined;
}

/** Lines of `stci-join` are `join: joined` or `join: REACH MESSAGE`. */
function reachRemote(
  { clock, processes }: Platform,
  command: readonly string[],
  waitMs: number,
  events: AgentProcessEvents,
): AgentProcess {
  let state: 'connecting' | 'joined' | 'over' = 'connecting';
  const fail = (reach: ReachFailure, message: string): void => {
    if (state !== 'connecting') return;
    state = 'over';
    timer.cancel();
    events.onError({ code: 'STCI_LAUNCH_FAILED', message, data: { reach } });
  };
  const process = processes.spawnAgent('process', command, {
    onError: (error) => fail('unreachable', error.message),
    onDiagnostic: (line) => {
      const [, word, text = ''] = /^join: (\S+) ?(.*)$/.exec(line) ?? [];
      if (word === undefined) return events.onDiagnostic(line);
      if (word !== 'joined') return fail(word as ReachFailure, text);
      state = 'joined';
      timer.cancel();
    },
    onExit: (end) => {
      if (state !== 'joined') return fail('unreachable', `the login ended with status ${end.status}`);
      state = 'over';
      events.onExit({ ...end, evidence: 'connection' });
    },
  });
  const timer = clock.after(waitMs, () => {
    fail('unreachable', `no connection within ${waitMs} ms`);
    process.kill();
  });
  return process;
}

/** The program `stci-join PATH`. */
export function joinMain(context: AgentContext): void {
  joinSocket(context, context.args[0] ?? '', (error) => {
    const { reach } = error?.data ?? {};
    context.diagnostic(error === undefined ? 'join: joined' : `join: ${String(reach)} ${error.message}`);
  });
}

/** Joins standard streams with a private socket, until either ends; `say` tells whether it connected. */
export function joinSocket(context: AgentContext, path: string, say: (error: ErrorRecord | undefined) => void): void {
  const { channel, platform: { network }, exit } = context;
  const socket = network.connectPrivate(path, REACH_MS, (error) => {
    say(error);
    let closed = 0;
    const end = (other: Channel) => (): void => {
      other.close();
      if (++closed === 2) exit(0);
    };
    if (error === undefined) return relay(channel, socket, end(channel), end(socket));
    channel.bind({ onData: () => undefined, onDrain: () => undefined, onClose: () => exit(1) });
    channel.close();
  });
}

/** The program `login`. */
export function loginMain(context: AgentContext): void {
  const [host = '', delay, ...command] = context.args;
  const delayMs = Number(delay);
  if (delayMs > 0) context.platform.clock.after(delayMs, () => relayLogin(context, host, command));
  else relayLogin(context, host, command);
}

/** Runs `command` on `host`, relays both directions, ends as it ends. `ssh`: says what OpenSSH's client says. */
export function relayLogin(
  context: AgentContext,
  host: string,
  command: readonly string[],
  ssh?: { readonly connectMs: number },
): void {
  const { channel, platform: { clock } } = context;
  let status: number | undefined;
  let farEnded = false;
  let nearEnded = false;
  const leave = (): void => context.exit(status ?? LOGIN_FAILED);
  /** What the remote program wrote last is sent first. */
  const leaveWhenSent = (): void => {
    if (nearEnded && status !== undefined) leave();
  };
  const remote = context.startOn(host, command, {
    onError: (error) => {
      context.diagnostic(error.message);
      context.exit(LOGIN_FAILED);
    },
    onDiagnostic: (line) => context.diagnostic(line),
    onExit: (end) => {
      status = end.status ?? (ssh === undefined ? KILLED : LOGIN_FAILED);
      if (ssh !== undefined) context.diagnostic('Transferred: sent 0, received 0 bytes, in 0.0 seconds');
      leaveWhenSent();
    },
  });
  const timer = ssh === undefined ? undefined : clock.after(ssh.connectMs, () => {
    context.diagnostic(`ssh: connect to host ${host} port 22: Connection timed out`);
    context.exit(LOGIN_FAILED);
  });
  relay(channel, remote.channel, () => {
    farEnded = true;
    channel.close();
    clock.after(LAST_DATA_MS, leave);
  }, () => {
    nearEnded = true;
    if (farEnded) leaveWhenSent();
    else leave();
  }, () => timer?.cancel());
}

function relay(
  near: Channel,
  far: Channel,
  onFarClosed: () => void,
  onNearClosed: () => void,
  onFarData: () => void = () => undefined,
): void {
  const pass = (from: Channel, to: Channel, onClose: () => void, onData = (): void => undefined): void =>
    from.bind({
      onData: (chunk) => {
        onData();
        if (!to.send([chunk])) from.readable(false);
      },
      onDrain: () => to.readable(true),
      onClose,
    });
  pass(near, far, onNearClosed);
  pass(far, near, onFarClosed, onFarData);
}
