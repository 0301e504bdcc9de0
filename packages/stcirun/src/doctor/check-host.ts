/**
 * All checks of one host and their results: good, a warning, or the reason why the host cannot be used, with a remedy.
 * A host is usable when agents can be started there: ssh's own result decides, not what is seen from outside.
 */

import { localCommand } from '@stci/host-program';
import type { HostSpec } from '@stci/interface';
import type { LinkedMpi } from '../files/linked-mpi.js';
import { diagnose, hostProblem, kexAdvice, type SshParams } from '@stci/launcher-ssh';
import {
  bad, CHECKS, good, NONE, warn, type BatchCheckName, type Check, type CheckName, type LaunchCheckName,
  type ProgramCheckName,
} from './check.js';
import { hostFacts, probeProgram, type HostFacts, type ProbeParams } from './probe.js';
import { reach, type Reach } from './reach.js';
import { makeNonce, probeCommand, runProbe, type Clock, type ProbeResult } from './run-probe.js';

export interface HostReport {
  readonly host: string;
  readonly usable: boolean;
  /** How long all of it took. */
  readonly ms: number;
  readonly checks: HostChecks;
  /** Of the program that was asked for. */
  readonly linked?: LinkedMpi;
}

export type HostChecks = Readonly<Record<CheckName, Check>>
  & Readonly<Partial<Record<BatchCheckName | LaunchCheckName | ProgramCheckName, Check>>>;

export interface DoctorParams extends ProbeParams {
  /** undefined: this machine, without a login. */
  readonly ssh: SshParams | undefined;
  /** For each host. */
  readonly deadlineMs: number;
}

/** A clock that is farther off makes times of output misleading. */
const OFFSET_MS_MAX = 1000;
/** Readings of a host's clock. */
export const CLOCKS = 5;

type Result = ProbeResult<HostFacts>;

/** Never rejects; takes little more than the deadline. */
export async function checkHost(host: HostSpec, params: DoctorParams): Promise<HostReport> {
  const startMs = performance.now();
  const { ssh } = params;
  const { checks, linked } = await (ssh === undefined ? checkHere(params) : checkThere(host, ssh, params));
  return hostReport(host.name, performance.now() - startMs, checks, linked);
}

export function hostReport(host: string, ms: number, checks: HostChecks, linked?: LinkedMpi): HostReport {
  const usable = !Object.values(checks).some(({ state }) => state === 'bad');
  return { host, usable, ms: Math.round(ms), checks, ...(linked && { linked }) };
}

type Found = Pick<HostReport, 'checks' | 'linked'>;

async function checkHere(params: DoctorParams): Promise<Found> {
  const nonce = makeNonce();
  const command = localCommand(probeProgram(params), nonce, process.execPath);
  const result = await runProbe(command, { nonce, deadlineMs: params.deadlineMs, read: hostFacts, clocks: CLOCKS });
  const why = result.invalid ?? result.lines.join('; ');
  const login = result.facts === undefined ? bad('FAIL', `the check itself failed: ${why}`) : NONE;
  const checks = { ...factChecks(result, params.ports), name: NONE, port: NONE, login, clock: NONE };
  return found(checks, result);
}

async function checkThere(host: HostSpec, ssh: SshParams, params: DoctorParams): Promise<Found> {
  const { ports, deadlineMs } = params;
  const wrong = hostProblem(host.name);
  if (wrong !== undefined) {
    const none = Object.fromEntries(CHECKS.map((name) => [name, NONE])) as Record<CheckName, Check>;
    return { checks: { ...none, name: bad('FAIL', `'${host.name}' ${wrong}. Correct the host list.`) } };
  }
  const nonce = makeNonce();
  // A little less than the deadline: ssh's own message is better than ours.
  const connectMs = Math.min(ssh.connectMs, (deadlineMs * 3) / 4);
  const command = probeCommand(host, { ...ssh, connectMs }, nonce, probeProgram(params));
  const probe = runProbe(command, { nonce, deadlineMs, read: hostFacts, clocks: CLOCKS });
  const [reached, result] = await Promise.all([reach(host, ssh, connectMs), probe]);
  const isIn = result.facts !== undefined || result.report !== undefined;
  const login = loginAndNode(host, ssh, result, deadlineMs);
  return found({ ...factChecks(result, ports), ...reachChecks(reached, isIn), ...login }, result);
}

function found(checks: HostChecks, { facts }: Result): Found {
  return { checks, ...(facts?.linked && { linked: facts.linked }) };
}

/** A result of name or port that was found from here: a warning where the login works all the same, else a failure. */
function reachChecks(reached: Reach, isIn: boolean): Record<'name' | 'port', Check> {
  const { place, addresses, nameError, greeting, portError } = reached;
  const fail = (text: string): Check => {
    return isIn ? warn('?', `${text}, but a login works`) : { state: 'bad', text: `FAIL: ${text}` };
  };
  if (place === undefined) return { name: NONE, port: NONE };
  if (place.isIndirect) return { name: good('jump'), port: NONE };
  if (nameError !== undefined) return { name: fail(nameError), port: NONE };
  return {
    name: good(addresses?.[0] ?? '?'),
    port: portError === undefined ? good(greetingText(greeting)) : fail(portError),
  };
}

function greetingText(greeting: string | undefined): string {
  return greeting?.replace(/^SSH-[\d.]+-/u, '').split(' ')[0] ?? 'ok';
}

function loginAndNode(
  host: HostSpec,
  ssh: SshParams,
  result: Result,
  deadlineMs: number,
): Partial<Record<CheckName, Check>> {
  const { facts, banner } = result;
  if (facts !== undefined) {
    if (banner.trim() === '') return { login: loginCheck(result) };
    const noise = 'the login prints text where there is no terminal; have its start-up files keep quiet there';
    return { login: warn('prints', noise) };
  }
  const { isNode, problem } = probeProblem(host, ssh, result, deadlineMs);
  const found = bad('FAIL', problem);
  return isNode ? { login: good('ok'), node: found } : { login: found };
}

/** Why no facts came. `isNode`: the login works, and what is wrong is the node there. */
export function probeProblem(
  host: HostSpec,
  { node }: SshParams,
  { invalid, phase, end, lines, banner, report, flooded, isLate }: ProbeResult<unknown>,
  deadlineMs: number,
): { readonly isNode: boolean; readonly problem: string } {
  if (invalid !== undefined) {
    const remedy = 'Look at which node is there, and whether the login changes what programs print.';
    const problem = `the host sent an answer that cannot be used: ${invalid}.\n  what to do: ${remedy}`;
    return { isNode: true, problem };
  }
  if (isLate) {
    const where = phase === 'connect' ? 'connect or authenticate' : phase;
    const said = lines.map((line) => `\n  ssh printed: ${line}`).join('');
    const more = 'Check the host, or allow more time: --timeout TIME.';
    const problem = `no answer within ${deadlineMs} ms, phase ${where}.${said}\n  what to do: ${more}`;
    return { isNode: false, problem };
  }
  const error = diagnose({ host: host.name, user: host.user, phase, end, lines, banner, report, flooded, node });
  const isNode = report !== undefined || error.data?.['phase'] === 'node' || phase === 'node' || phase === 'handshake';
  return { isNode, problem: error.message };
}

/** A login that works, and what would make it quicker. */
function loginCheck({ kex }: Result): Check {
  const advice = kex === undefined ? undefined : kexAdvice(kex);
  if (kex === undefined || advice === undefined) return good('ok');
  const text = `ok, kex ${Math.round(kex.ms)}/${Math.round(kex.loginMs)} ms`;
  return { state: 'good', text, problem: advice };
}

/** Results from the facts that the probe reported from the host itself. */
export function factChecks(
  { facts, clock }: Pick<Result, 'facts' | 'clock'>, ports: DoctorParams['ports'],
): Record<CheckName, Check> {
  const none = Object.fromEntries(CHECKS.map((name) => [name, NONE])) as Record<CheckName, Check>;
  if (facts === undefined) return none;
  return {
    ...none,
    node: good(facts.node),
    clock: clockCheck(clock),
    ports: portsCheck(facts.ports, ports),
    cache: cacheCheck(facts.cache),
    leftovers: leftoversCheck(facts),
  };
}

function clockCheck(clock: Clock | undefined): Check {
  if (clock === undefined) return NONE;
  const { offsetMs, errorMs } = clock;
  const digits = Math.abs(offsetMs) < 10 ? 1 : 0;
  const text = `${offsetMs < 0 ? '' : '+'}${offsetMs.toFixed(digits)}±${errorMs.toFixed(digits)} ms`;
  if (Math.abs(offsetMs) - errorMs <= OFFSET_MS_MAX) return good(text);
  const problem = 'its clock differs from that of this machine: timestamps are unreliable. ';
  return warn(text, `${problem}Synchronize it by NTP (chronyd, ntpd)`);
}

function portsCheck({ tried, free, first, error }: HostFacts['ports'], range: DoctorParams['ports']): Check {
  if (tried === 0) return free > 0 ? good('any') : bad('FAIL', `no port can be listened on: ${error}`);
  const text = `${free}/${tried}${first === undefined ? '' : ` from ${first}`}`;
  if (free > 0) return good(text);
  const wanted = `${range?.[0]}-${range?.[1]}`;
  return bad(text, `no port of ${wanted} is free (${error}). Name another range: --mca bootcom.ws.ports=LOW-HIGH`);
}

function cacheCheck({ path, error }: HostFacts['cache']): Check {
  if (error === undefined) return good('ok');
  return warn('no', `the agent cannot be kept in ${path} (${error}): it is sent at every start. `
    + 'Make it writable, make room, or set XDG_CACHE_HOME there');
}

function leftoversCheck({ left, leftCount, agents, ended, endedCount, sockets }: HostFacts): Check {
  const done = endedCount === 0 ? '' : `ended ${endedCount}`;
  const told = [
    ...(endedCount === 0 ? [] : [`${done} of earlier runs:${listed(ended, endedCount)}`]),
    ...(sockets === 0 ? [] : [`removed ${sockets} sockets of agents that have ended`]),
  ].join('\n');
  if (leftCount === 0) {
    const text = done || (agents === 0 ? 'none' : `none (${agents} in use)`);
    return told === '' ? good(text) : { state: 'good', text, problem: told };
  }
  const kill = `kill -9 ${left.map(({ pid }) => pid).join(' ')}`;
  const remedy = endedCount > 0 ? `there: ${kill}` : `stci doctor --clean with the same hosts; or there: ${kill}`;
  const text = `${leftCount} left of earlier runs, and no agent looks after them:${listed(left, leftCount)}`
    + `\n  what to do: ${remedy}`;
  return warn(String(leftCount), [told, text].filter((part) => part !== '').join('\n'));
}

function listed(processes: HostFacts['left'], count: number): string {
  const rest = count - processes.length;
  const lines = processes.map(({ pid, command }) => `\n  ${pid}  ${command}`);
  return lines.join('') + (rest > 0 ? `\n  and ${rest} more` : '');
}
