/**
 * Agents that are started together. A step comes up as a whole or not at all: one host that is not reached, or that
 * Slurm does not give, ends it for all. Then Slurm is asked about its hosts, those that do not work have failed, and
 * the others are started by another step. So nobody is told where an agent waits before all of a step do, or have
 * failed; from then on the step goes on without those that are lost.
 */

import { foldHostlist } from '@stci/core/component';
import { assert, toErrorRecord, StciError } from '@stci/interface';
import type {
  AgentBundle, AgentGroup, AgentProcessEnd, AgentsEvents, AgentsStart, ErrorRecord, NetworkAddress, ProcessEnd, Timer,
} from '@stci/interface';
import { ask, badNodes, jobState } from './ask.js';
import { slurmProgram, type SlurmParams } from './command.js';
import { findCause, findSilence, hostError, nodeError, refusedError, silentError, stepError } from './diagnose.js';
import { STOP_MS, Step, type StepEnd, type StepEvents, type StepPlatform } from './step.js';
import { utf8 } from './text.js';

/** Steps after one another, each without the hosts that ended the last. */
const STEPS_MAX = 4;
/** Period at which silence is looked for. */
const TICK_MS = 1000;
/** Slurm's answer about hosts is awaited for so long. */
const ASK_MS = 5000;
/** When all agents have ended, so does their step; a host that was given up may keep it. */
const STEP_END_MS = 2000;
/** What a host says of its failure may come after srun's word of its task's end. */
const LAST_WORDS_MS = 500;
const LINES_MAX = 4;
const ENDS: ReadonlyMap<string, string> = new Map([
  ['time limit', 'reached its time limit'],
  ['preemption', 'was preempted'],
]);
const KEEP_JOB = 'To keep a job that loses a host, make it so: salloc --no-kill, or #SBATCH --no-kill.';

interface Member {
  readonly index: number;
  readonly host: string;
  state: 'starting' | 'waits' | 'placed' | 'over';
  addresses: readonly NetworkAddress[];
  readonly lines: string[];
}

export class AgentSteps implements AgentGroup {
  readonly #platform: StepPlatform;
  readonly #params: SlurmParams;
  /** Within this time from its begin a step is up, or is given up, whatever is heard of it. */
  readonly #stepMs: number;
  /** What each agent is told: from the end of that time on at least half of what was asked for is left. */
  readonly #waitMs: number;
  readonly settleMs: number;
  readonly endMs = STOP_MS;
  readonly #events: AgentsEvents;
  readonly #members: ReadonlyMap<string, Member>;
  #step: Step | undefined;
  #secret: Uint8Array = new Uint8Array();
  #steps = 0;
  #stepStartMs = 0;
  #timer: Timer | undefined;
  /** Hosts because of which this step was cancelled, and why. */
  #blamed: Map<string, string> | undefined;
  #isAsking = false;
  #isSettled = false;
  #isEnding = false;
  #isKilled = false;
  #isOver = false;

  constructor(platform: StepPlatform, params: SlurmParams, { agents, waitMs }: AgentsStart, events: AgentsEvents) {
    this.#platform = platform;
    this.#params = params;
    this.#stepMs = Math.max(params.connectMs, waitMs / 2);
    this.#waitMs = this.#stepMs + waitMs / 2;
    this.settleMs = STEPS_MAX * (this.#stepMs + 2 * TICK_MS + STOP_MS + ASK_MS) + LAST_WORDS_MS;
    assert(this.#waitMs >= waitMs && this.#waitMs > this.#stepMs, 'no agent ends before all others of its step wait');
    this.#events = events;
    this.#members = new Map(agents.map(({ host: { name } }, index) =>
      [name, { index, host: name, state: 'starting', addresses: [], lines: [] }]));
    platform.clock.soon(() => this.#begin());
  }

  get phase(): string | undefined {
    if (this.#isSettled || this.#isOver) return undefined;
    if (this.#isAsking) return 'step: Slurm is asked about its hosts';
    const waiting = this.#in('waits').length;
    const hosts = `${waiting} of ${waiting + this.#in('starting').length} agents wait`;
    const { id, waitsFor } = this.#step ?? {};
    return `step ${id ?? ''}: ${hosts}${waitsFor === undefined ? '' : `; Slurm: ${waitsFor}`}`;
  }

  kill(): void {
    this.#isKilled = true;
    this.#step?.kill();
    if (this.#step === undefined) this.#platform.clock.soon(() => this.#over());
  }

  #in(state: Member['state']): Member[] {
    return [...this.#members.values()].filter((member) => member.state === state);
  }

  #begin(): void {
    if (this.#isKilled || this.#isOver) return;
    let bundle: AgentBundle;
    try {
      bundle = this.#platform.processes.agentBundle();
    } catch (thrown) {
      if (!(thrown instanceof StciError)) throw thrown;
      return this.#failRest((host) => ({ ...toErrorRecord(thrown), host }));
    }
    this.#steps += 1;
    this.#stepStartMs = this.#platform.clock.nowMs();
    this.#blamed = undefined;
    this.#secret = this.#platform.secrets.bytes(32);
    const init = { hosts: this.#in('starting').map(({ host }) => host), bundle, secret: this.#secret };
    this.#step = new Step(this.#platform, this.#params, { ...init, waitMs: this.#waitMs }, this.#stepEvents());
    this.#watch();
  }

  #stepEvents(): StepEvents {
    const memberOf = (host: string): Member => this.#members.get(host) as Member;
    return {
      onWaits: (host, addresses) => {
        const member = memberOf(host);
        if (member.state !== 'starting' || this.#blamed !== undefined) return;
        member.state = 'waits';
        member.addresses = addresses;
        this.#settleIfAll();
      },
      onFailed: (host, phase, text) => {
        const { node } = this.#params;
        const what = phase === 'bundle' ? `the host did not accept the agent: ${text}` : text;
        this.#fail(memberOf(host),
          phase === 'node' ? nodeError(host, text, node) : hostError(host, phase, what, 'Look at the host.'));
      },
      onEnded: (host, end, what) => this.#onEnded(memberOf(host), end, what),
      onLost: (host) => this.#onLine(host, 'Slurm reports a node failure'),
      onCancelled: (line, reason) => this.#onCancelled(line, reason),
      onLine: (host, line) => this.#onLine(host, line),
      onEnd: (report) => this.#onStepEnd(report),
    };
  }

  #onLine(host: string | undefined, line: string): void {
    const member = host === undefined ? undefined : this.#members.get(host);
    member?.lines.push(line);
    if ((member?.lines.length ?? 0) > LINES_MAX) member?.lines.shift();
    this.#events.onDiagnostic(member?.index, line);
  }

  #onEnded(member: Member, end: ProcessEnd, what: string): void {
    if (member.state === 'placed') return this.#exit(member, end);
    const step = this.#step;
    this.#platform.clock.after(LAST_WORDS_MS, () => {
      if (this.#step !== step || step?.isAborted === true || member.state === 'over') return;
      const printed = member.lines.map((line) => `\n  it printed: ${line}`).join('');
      const text = `its agent ended before it was reached: ${what}.${printed}`;
      if (member.state === 'placed') this.#exit(member, end);
      else this.#fail(member, hostError(member.host, 'agent', text, 'See what it printed.'));
    });
  }

  #onCancelled(line: string, reason: string | undefined): void {
    if (!this.#isSettled || this.#isEnding) return;
    this.#isEnding = true;
    const step = this.#step?.id;
    this.#events.onEnding({
      code: 'STCI_ALLOCATION_ENDED',
      message: `${endText(this.#platform.env.variables['SLURM_JOB_ID'] ?? '', reason)}.\n`
        + `  ${step === undefined ? '' : `Step ${step} is that of the agents. `}Slurm printed: ${line}`
        + (reason === 'node failure' ? `\n  what to do: ${KEEP_JOB}` : ''),
      data: { ...(step !== undefined && { step }), ...(reason !== undefined && { reason }) },
    });
  }

  #watch(): void {
    this.#timer?.cancel();
    this.#timer = this.#platform.clock.after(TICK_MS, () => {
      const step = this.#step;
      if (step === undefined || this.#isSettled || this.#isKilled || this.#blamed !== undefined) return;
      const nowMs = this.#platform.clock.nowMs();
      const isLate = nowMs - this.#stepStartMs >= this.#stepMs;
      if (!isLate && nowMs - step.heardMs < this.#params.connectMs) return this.#watch();
      this.#onSilence(step, nowMs - (isLate ? this.#stepStartMs : step.heardMs), isLate);
      this.#watch();
    });
  }

  #onSilence(step: Step, silentMs: number, isLate: boolean): void {
    const starting = this.#in('starting');
    const silent = starting.filter(({ host }) => step.phaseOf(host) === 'nothing');
    const seconds = Math.round(silentMs / 1000);
    if (silent.length > 0) {
      this.#blamed = new Map(silent.map(({ host }) => [host, `nothing was heard of it for ${seconds} s`]));
      return step.kill();
    }
    for (const member of starting) {
      const text = `its agent ${isLate ? 'does not wait after' : 'said nothing more for'} ${seconds} s`;
      this.#fail(member, hostError(member.host, step.phaseOf(member.host) ?? 'agent', text,
        'Look at the host, or wait longer: --mca launcher.slurm.connect=30s.'));
    }
  }

  #settleIfAll(): void {
    if (this.#isSettled || this.#in('starting').length > 0) return;
    this.#isSettled = true;
    this.#timer?.cancel();
    for (const member of this.#in('waits')) {
      const key = this.#platform.secrets.mac(this.#secret, utf8(member.host));
      member.state = 'placed';
      this.#events.onPlace(member.index, { addresses: member.addresses, key });
    }
  }

  #fail(member: Member, error: ErrorRecord): void {
    if (member.state !== 'starting' && member.state !== 'waits') return;
    member.state = 'over';
    this.#events.onFailed(member.index, error);
    if (this.#blamed === undefined && !this.#isAsking) this.#settleIfAll();
    if (!this.#hasAgents()) this.#step?.kill();
  }

  #hasAgents(): boolean {
    return [...this.#members.values()].some(({ state }) => state !== 'over');
  }

  #exit(member: Member, end: AgentProcessEnd): void {
    if (member.state !== 'placed') return;
    member.state = 'over';
    this.#events.onExit(member.index, end);
    const step = this.#step;
    if (!this.#hasAgents()) this.#platform.clock.after(STEP_END_MS, () => step?.kill());
  }

  #onStepEnd(report: StepEnd): void {
    const step = this.#step;
    this.#step = undefined;
    if (this.#isSettled || this.#isKilled) {
      const end: AgentProcessEnd = report.end.status === 0 ? report.end : { ...report.end, evidence: 'connection' };
      for (const member of this.#in('placed')) this.#exit(member, end);
      return this.#over();
    }
    for (const member of this.#in('waits')) member.state = 'starting';
    const finding = findCause(report);
    const blamed = this.#blamed ?? new Map<string, string>();
    const isSilence = blamed.size > 0;
    for (const [host, what] of report.unreached) blamed.set(host, `srun says: ${what}`);
    if (blamed.size === 0 && finding.isOfHosts !== true) {
      return this.#failRest((host) => stepError(host, report, finding));
    }
    // Until the answer, what follows is not of a step.
    this.#blamed = blamed;
    this.#askSlurm((known, hasAnswer) => {
      const all = this.#in('starting');
      const bad = all.filter(({ host }) => known.has(host) || report.unreached.has(host));
      // Slurm starts tasks along a tree: hosts may be silent for another one's sake. They get another step.
      const silent = all.filter(({ host }) => blamed.has(host));
      const causes = bad.length > 0 ? bad : silent.length < all.length ? silent : [];
      if (causes.length === 0 || this.#steps === STEPS_MAX) {
        const isOfAll = isSilence && report.unreached.size === 0 && silent.length === all.length;
        const { waitsFor } = step ?? {};
        const told = isOfAll ? findSilence({ lines: report.lines, waitsFor, hasAnswer }) : undefined;
        return this.#failRest((host) => {
          const what = blamed.get(host);
          if (what === undefined) return stepError(host, report, finding);
          return told === undefined ? silentError(host, what) : stepError(host, report, told, what);
        });
      }
      for (const member of causes) {
        const words = [known.get(member.host), blamed.get(member.host)].filter((text) => text !== undefined);
        this.#fail(member, refusedError(member.host, step?.id, words));
      }
      if (this.#in('starting').length === 0) this.#over();
      else this.#begin();
    });
  }

  /** Slurm's words about those of the hosts that do not work. */
  #askSlurm(done: (known: ReadonlyMap<string, string>, hasAnswer: boolean) => void): void {
    const { client } = this.#params;
    const hosts = this.#in('starting').map(({ host }) => host);
    const job = this.#platform.env.variables['SLURM_JOB_ID'] ?? '';
    const answers: { nodes?: string | undefined; job?: string | undefined } = {};
    let missing = 2;
    const onAnswer = (): void => {
      if (--missing > 0 || this.#isOver) return;
      this.#isAsking = false;
      if (this.#isKilled) return this.#over();
      const known = badNodes(answers.nodes ?? '');
      const has = jobState(answers.job ?? '')?.hosts ?? [];
      if (has.length > 0) {
        const isMissing = (host: string): boolean => !has.includes(host) && !known.has(host);
        for (const host of hosts.filter(isMissing)) known.set(host, `job ${job} does not have it, or not any more`);
      }
      for (const host of known.keys()) if (!hosts.includes(host)) known.delete(host);
      done(known, answers.nodes !== undefined || answers.job !== undefined);
    };
    this.#isAsking = true;
    const nodes = ['-h', '--all', '-N', '-n', foldHostlist(hosts), '-o', '%N|%T|%E'];
    const state = ['-h', '--all', '-j', job, '-o', '%T|%N|%r'];
    ask(this.#platform, [slurmProgram(client, 'sinfo'), ...nodes], ASK_MS, (output) => {
      answers.nodes = output;
      onAnswer();
    });
    ask(this.#platform, [slurmProgram(client, 'squeue'), ...state], ASK_MS, (output) => {
      answers.job = output;
      onAnswer();
    });
  }

  #failRest(errorOf: (host: string) => ErrorRecord): void {
    for (const member of [...this.#in('starting'), ...this.#in('waits')]) this.#fail(member, errorOf(member.host));
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.#events.onOver();
  }
}

/** What became of a Slurm job, by the words behind `DUE TO`; without any, its step alone may have been cancelled. */
function endText(job: string, reason: string | undefined): string {
  if (reason === undefined) return `Slurm job ${job}, or its step of the agents, was cancelled`;
  return `Slurm job ${job} ${ENDS.get(reason) ?? `was ended: ${reason}`}`;
}
