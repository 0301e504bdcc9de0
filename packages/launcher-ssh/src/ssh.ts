/**
 * One agent on one host, over one OpenSSH client: a new agent, or the private socket of one that runs already. The
 * client's standard streams are the agent's channel after the host's last answer; before, they carry the host's answers
 * and, if needed, the bundle. An agent that has no job yet ends when the channel closes: a failure anywhere between
 * leaves none behind.
 */

import { AnswerReader, hex, hexWord, type Answer } from '@stci/host-program';
import {
  StciError,
  type AgentBundle,
  type AgentProcess,
  type AgentProcessEvents,
  type Channel,
  type ErrorRecord,
  type HostSpec,
  type LauncherProc,
  type LauncherProcDeps,
  type Platform,
  type ProcessEnd,
} from '@stci/interface';
import { DeferredChannel, toErrorRecord } from '@stci/interface';
import { hostProblem, sshCommand, type RemoteStart, type SshParams } from './command.js';
import { describeWait, diagnose, type SshFacts, type SshPhase } from './diagnose.js';
import { EndWatch } from './end-watch.js';
import { JOIN_PROGRAM } from './join.js';
import { KexTimer, STEP_LINE, kexAdvice } from './kex.js';

const NONCE_BYTES = 8;
/** Last lines of standard error kept of a start: they have the cause. */
const LINES_MAX = 12;
/** Turns of the loop in which ssh's last output is awaited after its end: it is in the pipe already. */
const LAST_TURNS = 4;

/** Verbose messages of ssh that are not shown. */
const NOISE = /^(Authenticated to |Transferred: sent |Bytes per second: |Connection to .* closed\.$)/;

export type SshDeps = Pick<LauncherProcDeps, 'inline'> & {
  readonly platform: Pick<Platform, 'clock' | 'secrets' | 'processes' | 'log'>;
};

/** The launcherproc `ssh`. */
export function createSsh({ platform, inline }: SshDeps, params: SshParams): LauncherProc {
  const all = { ...params, advised: new Set<string>() };
  return {
    name: 'ssh',
    start: (start, events) =>
      start.method === 'inline' ? inline(start, events) : startOver(platform, all, start, newAgent, events),
    reach: (reach, events) =>
      startOver(platform, all, reach, ({ node }) => ({
        hash: hexWord(reach.path), bundleBytes: 0, ownNode: node, program: JOIN_PROGRAM,
      }), {
        ...events,
        onError: (error) => events.onError({ ...error, data: { reach: 'unreachable', ...error.data } }),
        onExit: (end) => events.onExit({ ...end, evidence: 'connection' }),
      }),
  };
}

function newAgent({ hash, bytes, node, holder }: AgentBundle): Program {
  return { hash, bundleBytes: bytes.length, ownNode: node, holder };
}

function startOver(
  platform: SshDeps['platform'],
  params: StartParams,
  target: Target,
  programOf: (bundle: AgentBundle) => Program,
  events: AgentProcessEvents,
): AgentProcess {
  const { name } = target.host;
  const problem = hostProblem(name);
  if (problem !== undefined) {
    const message = `'${name}' ${problem}. Correct the host list.`;
    return refused(platform, name, { code: 'STCI_HOSTLIST_INVALID', message, host: name }, events);
  }
  try {
    const bundle = platform.processes.agentBundle();
    return new SshAgent(platform, params, { ...target, program: programOf(bundle), bundle: bundle.bytes }, events);
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    return refused(platform, name, toErrorRecord(thrown), events);
  }
}

function refused(
  { clock }: SshDeps['platform'],
  name: string,
  error: ErrorRecord,
  events: AgentProcessEvents,
): AgentProcess {
  const channel = new DeferredChannel({ kind: 'stdio', label: `ssh ${name}`, soon: clock.soon });
  clock.soon(() => {
    events.onError(error);
    channel.end(error.message);
  });
  return { pid: 0, channel, kill: () => undefined };
}

/** `advised`: advice on slow key exchanges that was given, to give it once and not for each host. */
type StartParams = SshParams & { readonly advised: Set<string> };

/** What runs on the host. */
type Program = Pick<RemoteStart, 'hash' | 'bundleBytes' | 'ownNode' | 'holder' | 'program'>;

interface Target {
  readonly host: HostSpec;
  readonly waitMs?: number;
}

/** `bundle`: sent if the program asks for it. */
interface Errand extends Target {
  readonly program: Program;
  readonly bundle: Uint8Array;
}

class SshAgent implements AgentProcess {
  readonly isConnection = true;
  readonly pid: number;
  readonly channel: Channel;
  readonly #platform: SshDeps['platform'];
  readonly #params: StartParams;
  readonly #host: Pick<HostSpec, 'name' | 'user'>;
  readonly #bundle: Uint8Array;
  readonly #events: AgentProcessEvents;
  readonly #client: AgentProcess;
  readonly #agentChannel: DeferredChannel;
  readonly #answers: AnswerReader;
  readonly #kex: KexTimer;
  readonly #endWatch = new EndWatch();
  #phase: SshPhase = 'connect';
  #lines: string[] = [];
  #report: SshFacts['report'];
  #flooded = false;
  /** The agent has sent data: from now on its link reports failures. */
  #hasData = false;
  #isKilled = false;
  #end: ProcessEnd | undefined;
  #closeReason: string | undefined;
  #isOver = false;

  constructor(
    platform: SshDeps['platform'],
    params: StartParams,
    { host, waitMs, program, bundle }: Errand,
    events: AgentProcessEvents,
  ) {
    const nonce = hex(platform.secrets.bytes(NONCE_BYTES));
    this.#platform = platform;
    this.#params = params;
    this.#host = host;
    this.#bundle = bundle;
    this.#events = events;
    this.#kex = new KexTimer(platform.clock.nowMs());
    this.#answers = new AnswerReader(nonce, {
      onAnswer: (answer) => this.#onAnswer(answer),
      onFlood: () => this.#onFlood(),
    });
    const { processes } = platform;
    const start = { ...program, nonce, node: params.node, ...(waitMs !== undefined && { waitMs }) };
    const command = sshCommand(host, params, start);
    this.#client = processes.spawnAgent('process', command, {
      onError: (error) => this.#onNoClient(error),
      onDiagnostic: (line) => this.#onLine(line),
      onExit: (end) => this.#onExit(end),
    });
    this.pid = this.#client.pid;
    const inner = this.#client.channel;
    const label = `ssh ${host.name}`;
    this.#agentChannel = new DeferredChannel({ kind: 'stdio', label, soon: platform.clock.soon, inner });
    this.channel = this.#agentChannel;
    this.#client.channel.bind({
      onData: (chunk) => this.#onData(chunk),
      onDrain: () => this.#agentChannel.onDrain(),
      onClose: (reason) => this.#onClose(reason),
    });
  }

  /** Phase of the start and output so far, for the message when a deadline expires before ssh ends. */
  get phase(): string | undefined {
    if (this.#hasData) return undefined;
    const output = this.#lines.map((line) => `\n  ssh printed: ${line}`).join('');
    return describeWait(this.#phase, { host: this.#host.name, user: this.#host.user }) + output;
  }

  kill(): void {
    this.#isKilled = true;
    this.#client.kill();
  }

  #onData(chunk: Uint8Array): void {
    if (this.#hasData) return this.#agentChannel.onData(chunk);
    if (this.#phase === 'handshake') {
      this.#onFirstData();
      return this.#agentChannel.onData(chunk);
    }
    const first = this.#answers.push(chunk);
    if (first === undefined) return;
    if (first.length > 0) this.#onFirstData();
    this.#agentChannel.open(first);
  }

  #onFirstData(): void {
    this.#hasData = true;
    // Output before the agent's first data is not the cause of a later failure.
    for (const line of this.#lines) this.#events.onDiagnostic(line);
    this.#lines = [];
  }

  #onAnswer(answer: Answer): void {
    switch (answer.word) {
      case 'shell':
        this.#phase = 'node';
        return;
      case 'need':
        this.#phase = 'bundle';
        this.#client.channel.send([this.#bundle]);
        return;
      case 'have':
      case 'run':
      case 'join':
        this.#phase = 'handshake';
        return;
      case 'fail':
        this.#report = answer;
    }
  }

  #onFlood(): void {
    this.#flooded = true;
    this.#client.kill();
  }

  #onLine(line: string): void {
    if (line.startsWith('Authenticated to ') && this.#phase === 'connect') this.#phase = 'login shell';
    if (this.#params.steps === true) this.#onStep(line);
    this.#endWatch.onLine(line);
    if (NOISE.test(line) || (this.#params.steps === true && STEP_LINE.test(line))) return;
    if (this.#hasData) return this.#events.onDiagnostic(line);
    this.#lines.push(line);
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
  }

  #onStep(line: string): void {
    const { clock, log } = this.#platform;
    const exchange = this.#kex.onLine(line, clock.nowMs());
    const advice = exchange === undefined ? undefined : kexAdvice(exchange);
    if (exchange === undefined || advice === undefined || this.#params.advised.has(advice)) return;
    this.#params.advised.add(advice);
    const times = `${Math.round(exchange.ms)} of ${Math.round(exchange.loginMs)} ms`;
    log.write('warn', `login to ${this.#host.name}: ${advice} (${times})`);
  }

  #onNoClient(error: ErrorRecord): void {
    this.#isOver = true;
    const remedy = 'Install the OpenSSH client here, or name one: --mca launcher.ssh.client=PATH.';
    this.#events.onError({ ...error, host: this.#host.name, message: `phase connect: ${error.message}\n  ${remedy}` });
    this.#agentChannel.end(error.message);
  }

  #onClose(reason: string): void {
    this.#closeReason = reason;
    if (this.#hasData || this.#isKilled || this.#isOver) this.#agentChannel.end(reason);
  }

  #onExit(end: ProcessEnd): void {
    this.#end = end;
    this.#finishAfter(this.#isKilled ? 0 : LAST_TURNS);
  }

  #finishAfter(turns: number): void {
    if (turns === 0) this.#finish();
    else this.#platform.clock.soon(() => this.#finishAfter(turns - 1));
  }

  /** ssh has ended, and its last output is read. */
  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const end = this.#end as ProcessEnd;
    const evidence = this.#isKilled ? 'connection' : this.#endWatch.evidenceOf(end);
    if (this.#hasData || this.#isKilled) this.#events.onExit({ ...end, evidence });
    else this.#events.onError(this.#diagnose(end));
    if (this.#closeReason !== undefined) this.#agentChannel.end(this.#closeReason);
  }

  #diagnose(end: ProcessEnd): ErrorRecord {
    return diagnose({
      host: this.#host.name,
      user: this.#host.user,
      phase: this.#phase,
      end,
      lines: this.#lines,
      banner: this.#answers.banner,
      report: this.#report,
      flooded: this.#flooded,
      node: this.#params.node,
    });
  }
}
