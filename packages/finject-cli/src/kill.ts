/** `finject kill`: a single fault into a running job, without a file. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { createComposition, didYouMean, expandHostlist, parseValue } from '@stci/core';
import { completeFaultArgs, faultOrderProblem } from '@stci/core/component';
import type { JobStatus, SessionClient, SessionStatus } from '@stci/core/session';
import { LEASE_MS, RENEWAL_MS } from '@stci/finject/experiment';
import {
  ERROR_KINDS, StciError, printable, type AgentRole, type FaultOrder, type FaultReport, type FaultVictim,
  type HostIndex, type JobId,
} from '@stci/interface';
import {
  answered, askStatus, connectToJob, JOB_ARGUMENT, jobArgument, openSessions, parseDuration, parsePair, printOut,
  repeated, sessionFlags, StciCommand, type Pair,
} from '@stci/stcirun/front-end';

const TIMEOUT_MS = 10_000;
/** How much later than it may take an answer is given up. */
const SILENCE_MS = 15_000;
/** Time for undoing; each agent has 5 s for it. */
const UNDO_MS = 10_000;
const VICTIMS_MAX = 1000;
/** As long as a session takes it. */
const FOR_MAX_MS = 86_400_000;
const ROLES: readonly AgentRole[] = ['controller', 'root', 'session'];

interface Given {
  readonly rank?: string | undefined;
  readonly host?: string | undefined;
  readonly agent?: string | undefined;
  readonly link?: string | undefined;
  readonly kind?: string | undefined;
  readonly signal?: string | undefined;
  readonly group: boolean;
  readonly for?: number | undefined;
  readonly arg?: readonly Pair[] | undefined;
}

export class KillCommand extends StciCommand {
  static override readonly summary = 'a single fault into a running job, without a file';
  static override readonly synopsis = 'JOB --rank LIST | --host LIST | --agent ROLE[:HOST] | --link HOST,HOST [...]';
  static override readonly page = 'finject.md#commands';
  static override readonly details = `
Tells what happened where, and ends when the fault is over. Ctrl-C undoes it.

Examples:
  finject kill night.3 --rank 5
  finject kill night.3 --rank 5 --for 2s
  finject kill 3 --link n1,n2 --for 10s --arg mode=delay --arg delay=50ms
`;

  static override args = { job: Args.string({ ignoreStdin: true, description: JOB_ARGUMENT }) };
  static override flags = {
    rank: Flags.string({ helpValue: 'LIST', description: 'ranks: 3 or 0-3,7' }),
    host: Flags.string({ helpValue: 'LIST', description: 'hosts, by name, with all that runs on them' }),
    agent: Flags.string({ helpValue: 'ROLE', description: 'controller, root:HOST or session:HOST' }),
    link: Flags.string({
      helpValue: 'A,B', description: "the link between the agents of two hosts; one may be 'controller'",
    }),
    kind: Flags.string({
      helpValue: 'KIND',
      description: 'kind of fault; default: pkill for ranks, host, agent, link; with --for, pause for ranks and agents',
    }),
    signal: Flags.string({ helpValue: 'NAME', description: 'of kind pkill; default KILL' }),
    group: Flags.boolean({ description: 'of kind pkill: also the processes that the rank has started' }),
    for: Flags.custom<number>({
      parse: async (text) => parseFor(text),
      helpValue: 'TIME',
      description: 'undone after this time, such as 500ms or 2s; kinds that end their victim take none',
    })(),
    arg: Flags.custom<Pair>({ parse: async (text) => parsePair('--arg', text) })({
      ...repeated, helpValue: 'KEY=VALUE', description: "argument of the kind; 'stci info fault:KIND' lists them",
    }),
    plugin: Flags.string({
      ...repeated,
      helpValue: 'PATH',
      description: 'adds the kinds of a package; the session must have been started with it',
    }),
    ...sessionFlags,
  };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(KillCommand);
    const name = jobArgument(args.job, 'finject kill', ' --rank 0');
    checkGiven(flags);
    const sessions = await openSessions(flags);
    const { client, job } = await connectToJob(sessions, name, flags.session);
    try {
      const status = await askStatus(client);
      const found = findJob(name, job, status);
      const victims = victimsOf(flags, status, found);
      const kinds = sessions.composition.scope('finject', sessions.params, sessions.platform);
      const orders = victims.map((victim, index) => orderOf(flags, victim, job, index, kinds));
      return await new Injection(client, status).run(orders);
    } finally {
      client.close();
    }
  }
}

function usage(text: string): StciError {
  return new StciError('STCI_USAGE', text);
}

function parseFor(text: string): number {
  const forMs = parseDuration('--for', text);
  if (forMs <= FOR_MAX_MS) return forMs;
  throw usage(`--for: expected at most 24h, got '${text}'.`);
}

function findJob(name: string, job: JobId, { jobs }: SessionStatus): JobStatus {
  const found = jobs.find((one) => one.job === job);
  if (found !== undefined) return found;
  throw new StciError('STCI_JOB_UNKNOWN', `There is no job ${name}. 'stci ps' lists them.`);
}

function checkGiven(given: Given): void {
  const { rank, host, agent, link } = given;
  const named = Object.entries({ rank, host, agent, link }).filter(([, value]) => value !== undefined);
  if (named.length === 1) return;
  const both = named.map(([name]) => `--${name}`).join(' and ');
  throw usage(named.length === 0 ? 'No victim is named: give one of --rank, --host, --agent, --link.'
    : `${both} cannot be combined: give one of them.`);
}

type Kinds = ReturnType<ReturnType<typeof createComposition>['scope']>;

function moduleOf(kind: string, kinds: Kinds): ReturnType<Kinds['fault']> {
  try {
    return kinds.fault(kind);
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    throw new StciError(thrown.code, `${thrown.message} A plugin's kind needs --plugin PATH.`, { cause: thrown });
  }
}

function orderOf(given: Given, victim: FaultVictim, job: JobId, index: number, kinds: Kinds): FaultOrder {
  const kind = given.kind ?? kindOf(victim, given.for !== undefined);
  const module = moduleOf(kind, kinds);
  const specs = module.args;
  const args = Object.fromEntries((given.arg ?? []).map(({ key, value }) => {
    const spec = Object.hasOwn(specs, key) ? specs[key] : undefined;
    if (spec === undefined) {
      const hint = didYouMean(key, Object.keys(specs)) || ` See 'stci info fault:${kind}'.`;
      throw usage(`--arg ${key}: fault ${kind} has no such argument.${hint}`);
    }
    const parsed = parseValue(spec, value);
    if (!parsed.ok) throw usage(`--arg ${key}=${value}: ${parsed.problem}.`);
    return [key, parsed.value];
  }));
  if (kind !== 'pkill' && (given.signal !== undefined || given.group)) {
    throw usage(`--signal and --group are of kind pkill; this is kind ${kind}.`);
  }
  const complete = completeFaultArgs(kind, specs, {
    ...args, ...(given.signal !== undefined && { signal: given.signal }), ...(given.group && { whom: 'group' }),
  });
  if ('problem' in complete) throw usage(`${complete.problem}.`);
  const order = {
    id: `kill.${index + 1}`, kind, victim, job, timeoutMs: TIMEOUT_MS, args: complete.args,
    ...(given.for !== undefined && { durationMs: given.for }),
  };
  const problem = faultOrderProblem(order, module, '--for');
  if (problem !== undefined) throw usage(problem.replace(/\.?$/u, '.'));
  return order;
}

function kindOf({ kind }: FaultVictim, isLasting: boolean): string {
  if (kind === 'rank') return isLasting ? 'pause' : 'pkill';
  return kind === 'agent' && isLasting ? 'pause' : kind;
}

function victimsOf(
  { rank, host, agent, link }: Given, status: SessionStatus, job: JobStatus,
): readonly FaultVictim[] {
  if (rank !== undefined) return ranksOf(rank, job).map((one) => ({ kind: 'rank', rank: one }));
  if (host !== undefined) {
    const names = expandHostlist(host, { name: '--host' }).map(({ name }) => name);
    return names.map((name) => ({ kind: 'host', host: hostNamed('--host', name, status) }));
  }
  if (link !== undefined) {
    const [a, b, more] = link.split(',');
    if (a === undefined || b === undefined || more !== undefined) {
      throw usage(`--link: expected two hosts, A,B; got '${link}'.`);
    }
    const end = (name: string): number => (name === 'controller' ? 0 : hostNamed('--link', name, status) + 1);
    return [{ kind: 'link', ends: [end(a), end(b)] }];
  }
  return [agentOf(agent ?? '', status)];
}

/** What follows the first colon is a host's name, with all colons that it has. */
function agentOf(text: string, status: SessionStatus): FaultVictim {
  const [, name = '', of] = /^([^:]*)(?::(.*))?$/su.exec(text) ?? [];
  const role = ROLES.find((one) => one === name);
  if (role === undefined) {
    throw usage(`--agent: '${name}' is no agent: expected controller, root:HOST or session:HOST.`);
  }
  if (role === 'controller') {
    if (of === undefined) return { kind: 'agent', role, host: 0 };
    throw usage(`--agent ${text}: the controller is one for the whole session, and is of no host. To end an agent of `
      + 'that host, write root:HOST or session:HOST; to end the session, write controller alone.');
  }
  if (of === undefined || of === '') throw usage(`--agent ${role}: of which host? Write ${role}:HOST.`);
  return { kind: 'agent', role, host: hostNamed('--agent', of, status) };
}

function ranksOf(text: string, { ranks: size }: JobStatus): readonly number[] {
  const ranks = text.split(',').flatMap((item) => {
    const [, low, high] = /^(\d{1,7})(?:-(\d{1,7}))?$/u.exec(item) ?? [];
    const [first, last] = [Number(low), Number(high ?? low)];
    if (low === undefined || last < first || last - first >= VICTIMS_MAX) {
      throw usage(`--rank: '${item}' is no rank or range of ranks: expected 3 or 0-3, at most ${VICTIMS_MAX}.`);
    }
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
  const unknown = ranks.find((rank) => rank >= size);
  // A job that has not been mapped yet has none; the session says what is the matter with it.
  if (unknown === undefined || size === 0) return [...new Set(ranks)];
  throw usage(`--rank: the job has no rank ${unknown}: expected ${size === 1 ? '0' : `0..${size - 1}`}.`);
}

/** The host of this name, or number. */
function hostNamed(option: string, name: string, { hosts }: SessionStatus): HostIndex {
  const found = hosts.find(({ spec }) => spec.name === name) ?? hosts.find(({ host }) => String(host) === name);
  if (found !== undefined) return found.host;
  throw new StciError('STCI_HOST_UNKNOWN', `${option}: host ${name} is not one of the session's.`);
}

class Injection {
  readonly #client: SessionClient;
  readonly #status: SessionStatus;
  readonly #open = new Map<string, { isInjected: boolean; readonly order: FaultOrder }>();
  #failures = 0;
  /** Whoever read what it tells has gone. */
  #printError: unknown;
  #onOver: () => void = () => undefined;

  constructor(client: SessionClient, status: SessionStatus) {
    this.#client = client;
    this.#status = status;
  }

  /** Resolves with the exit code when all are over, and nothing is in force. Throws where it cannot print. */
  async run(orders: readonly FaultOrder[]): Promise<number> {
    const { experiment } = this.#client;
    experiment.onReport = (report) => this.#onReport(report);
    experiment.onEnd = ({ message }) => this.#giveUp(message);
    const terms = {
      leaseMs: LEASE_MS, ownsSession: false, victimsMax: orders.length, keepRanks: [], keepHosts: [],
      allow: orders.some(({ victim }) => victim.kind === 'agent' && victim.role === 'controller')
        ? ['controller' as const] : [],
    };
    await answered<void>((done) => experiment.open(terms, done));
    const renewal = setInterval(() => experiment.open(terms, () => undefined), RENEWAL_MS);
    let signal: number | undefined;
    const over = new Promise<void>((resolve) => (this.#onOver = resolve));
    const interrupt = (name: NodeJS.Signals): void => {
      signal = name === 'SIGINT' ? 130 : 143;
      this.#onOver();
    };
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
    const longest = Math.max(...orders.map(({ durationMs = 0 }) => durationMs));
    const limit = setTimeout(() => this.#giveUp('the session has not answered'), TIMEOUT_MS + longest + SILENCE_MS);
    for (const order of orders) {
      this.#open.set(order.id, { order, isInjected: false });
      experiment.inject(order);
    }
    await over;
    clearInterval(renewal);
    clearTimeout(limit);
    const undone = answered<readonly string[]>((done) => experiment.undo('', done), UNDO_MS);
    await undone.catch(({ message }: StciError) => this.#tell(`not known to be undone: ${message}`));
    if (this.#printError !== undefined) throw this.#printError;
    return signal ?? (this.#failures > 0 ? ERROR_KINDS.STCI_EXPERIMENT_FAILED.exitCode : 0);
  }

  #onReport({ id, state, text, agent, host }: FaultReport): void {
    const open = this.#open.get(id);
    const where = `${agent}${agent === 'controller' ? '' : ` on ${this.#status.hosts[host]?.spec.name ?? host}`}`;
    this.#tell(`${state}: ${text === '' ? (open?.order.kind ?? '') : text} (${where})`);
    if (open === undefined) return;
    if (state === 'injected') {
      open.isInjected = true;
      if (open.order.durationMs !== undefined) return;
    } else if (!open.isInjected || state === 'failed') {
      this.#failures += 1;
    }
    this.#open.delete(id);
    if (this.#open.size === 0) this.#onOver();
  }

  /** Where it cannot be told, all is undone. */
  #tell(text: string): void {
    try {
      printOut(`${printable(text)}\n`);
    } catch (thrown) {
      this.#printError ??= thrown;
      this.#onOver();
    }
  }

  #giveUp(why: string): void {
    if (this.#open.size === 0) return;
    this.#open.clear();
    this.#tell(`failed: ${why}`);
    this.#failures += 1;
    this.#onOver();
  }
}
