/** A platform whose clock and processes the test moves: it plays srun and what Slurm's other programs answer. */

import type {
  AgentsEvents, AgentsStart, ErrorRecord, Process, ProcessEnd, ProcessEvents, SpawnSpec, Timer,
} from '@stci/interface';
import { AgentSteps, hostsOf, slurmParams } from '@stci/launcher-slurm';

export const PARAMS = slurmParams({
  client: 'srun', options: '', node: '', connect: 15_000, interface: [], ports: '', name: 'stci',
});

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

/** A process that the test plays. */
export class Played {
  readonly signals: string[] = [];
  stdin = '';
  readonly spec: SpawnSpec;
  readonly #events: ProcessEvents;

  constructor(spec: SpawnSpec, events: ProcessEvents) {
    this.spec = spec;
    this.#events = events;
  }

  get process(): Process {
    return {
      pid: 7, signal: (name) => this.signals.push(name) > 0, groupSize: () => 1, groupMembers: () => [7],
      writeStdin: (chunk) => ((this.stdin += Buffer.from(chunk).toString('latin1')), true),
      closeStdin: () => undefined, hasReadInput: () => false, readable: () => undefined, closeOutput: () => undefined,
    };
  }

  /** The word after an option, or behind its `=`. */
  option(name: string): string {
    const { args } = this.spec;
    return args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1) ?? args[args.indexOf(name) + 1] ?? '';
  }

  get hosts(): string[] {
    return [...hostsOf(this.option('--nodelist'))];
  }

  out(text: string): void {
    this.#events.onOutput('stdout', bytes(text), 0);
  }

  err(line: string): void {
    this.#events.onOutput('stderr', bytes(`${line}\n`), 0);
  }

  /** What the task of a host says. */
  say(task: number, words: string): void {
    const nonce = this.spec.args[this.spec.args.indexOf('utf8') + 1] ?? '';
    this.out(`${task}: STCI ${nonce} ${words}\n`);
  }

  /** All hosts, or those given, come up to where they wait. */
  comeUp(hosts: readonly string[] = this.hosts): void {
    for (const host of hosts) {
      const task = this.hosts.indexOf(host);
      this.say(task, `host ${host} 9.4`);
      this.say(task, 'have');
      this.say(task, `wait tls://${host}:1 tls://[::1]:1`);
    }
  }

  fails(message: string): void {
    this.#events.onError({ code: 'STCI_PROGRAM_NOT_FOUND', message });
  }

  exit(end: ProcessEnd): void {
    this.#events.onExit(end);
  }

  end(end: ProcessEnd = { status: 0 }): void {
    this.exit(end);
    this.#events.onOutputEnd('stdout');
    this.#events.onOutputEnd('stderr');
  }
}

export class FakeSlurm {
  readonly spawned: Played[] = [];
  /** What happened, one line an event. */
  readonly told: string[] = [];
  readonly errors = new Map<number, ErrorRecord>();
  /** Answers of sinfo and squeue; undefined: they say nothing. */
  nodes: string | undefined = '';
  job: string | undefined = '';
  #now = 0;
  #timers: { readonly atMs: number; readonly fire: () => void }[] = [];
  #random = 0;

  readonly events: AgentsEvents = {
    onPlace: (index, { addresses, key }) => this.told.push(`place ${index} ${addresses.join(' ')} ${key.length}`),
    onFailed: (index, error) => {
      this.errors.set(index, error);
      this.told.push(`failed ${index}`);
    },
    onDiagnostic: (index, line) => this.told.push(`line ${index ?? '-'} ${line}`),
    onExit: (index, end) => this.told.push(`exit ${index} ${JSON.stringify(end)}`),
    onEnding: ({ code, message }) => this.told.push(`ending ${code} ${message.split('\n')[0]}`),
    onOver: () => this.told.push('over'),
  };

  readonly platform = {
    clock: {
      nowMs: () => this.#now,
      wallMs: () => this.#now,
      after: (delayMs: number, fire: () => void): Timer => {
        const timer = { atMs: this.#now + delayMs, fire };
        this.#timers.push(timer);
        return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
      },
      soon: (fire: () => void) => void this.#timers.push({ atMs: this.#now, fire }),
    },
    secrets: {
      bytes: (length: number) => new Uint8Array(length).fill(++this.#random),
      mac: (key: Uint8Array, data: Uint8Array) =>
        Uint8Array.from({ length: 32 }, (_, i) => (key[0] ?? 0) + (data[i] ?? 0)),
    },
    processes: {
      agentBundle: () => ({ hash: 'a'.repeat(64), bytes: bytes('BUNDLE'), node: '/usr/bin/node', holder: '' }),
      spawn: (spec: SpawnSpec, events: ProcessEvents) => {
        const played = new Played(spec, events);
        this.spawned.push(played);
        const answer = spec.program === 'sinfo' ? this.nodes : this.job;
        if (spec.program === 'sinfo' || spec.program === 'squeue') {
          this.platform.clock.soon(() => {
            if (answer === undefined) return;
            played.out(answer);
            played.end();
          });
        }
        return played.process;
      },
    },
    env: {
      variables: { SLURM_JOB_ID: '9', SLURM_NTASKS: '64', PATH: '/bin', SINFO_PARTITION: 'p', SQUEUE_STATES: 'PD' },
    },
  };

  /** Starts the agents of these hosts. */
  start(hosts: readonly string[] = ['h1', 'h2', 'h3'], params = PARAMS): AgentSteps {
    const agents = hosts.map((name, i) =>
      ({ address: `root:${i}`, host: { name, slots: 1, slotsBound: false, origin: 'test' } }));
    const start = { agents, waitMs: 60_000 } as unknown as AgentsStart;
    const steps = new AgentSteps(this.platform as never, params, start, this.events);
    this.pass(0);
    return steps;
  }

  /** The last srun. */
  get srun(): Played {
    return this.spawned.filter(({ spec }) => spec.program === 'srun').at(-1) as Played;
  }

  errorOf(index: number): string {
    return this.errors.get(index)?.message ?? '';
  }

  get stepCount(): number {
    return this.spawned.filter(({ spec }) => spec.program === 'srun').length;
  }

  /** Lets time pass, with all that is due. */
  pass(ms: number): void {
    const endMs = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#now = Math.max(this.#now, due.atMs);
      due.fire();
    }
    this.#now = endMs;
  }
}
