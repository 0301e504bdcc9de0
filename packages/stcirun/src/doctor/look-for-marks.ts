/**
 * Looks on a host, by a login as `stci doctor` does or here, for processes with a mark in their environment, and waits
 * until they are gone. A process that has cleared its environment is found by the limit that agents leave to their
 * descendants (platform-node's process-mark.ts), as far as that shows whose it is.
 */

import { integer, object, word } from '@stci/core';
import { hexWord, hostProgram, localCommand } from '@stci/host-program';
import type { HostSpec, Params } from '@stci/interface';
import { hostProblem, sshParams } from '@stci/launcher-ssh';
import { probeProblem } from './check-host.js';
import { factsReader, NAMED_MAX, PIDS_MAX, PROC_FUNCTIONS, someProcesses } from './probe.js';
import { makeNonce, probeCommand, runProbe } from './run-probe.js';

const LOOK_MS = 100;

export interface MarkSearch {
  /** `NAME=VALUE` of the environment; no secret, as it is an argument of the login. */
  readonly mark: string;
  /**
   * Of the run alone: the session that it started, and how long ago by now, ms; undefined: only the mark counts.
   * Processes without variable NAME are then found by their limit, if they are no older, have no tool's mark of another
   * session, and their agent has been gone for `settleMs`: guardians of other runs end what their agents leave. One
   * without a tool's mark may be of another run that left it in this time. An agent's id says nothing in another PID
   * namespace: limits count in that of the login alone.
   */
  readonly own: { readonly session: string; readonly settleMs: number; ageMs(): number } | undefined;
  /** How long the host waits until none is left; at most two `settleMs` more for what has not settled. */
  readonly waitMs: number;
}

export interface MarkedProcesses {
  /** The machine and its PID namespace, as in ProcessIdentity; only a claim. */
  readonly boot: string;
  readonly space: string;
  readonly count: number;
  /** Some of them. */
  readonly processes: readonly { readonly pid: number; readonly command: string }[];
}

const FACTS = object<MarkedProcesses>({
  boot: word, space: word, count: integer(0, PIDS_MAX), processes: someProcesses,
});

const readFacts = factsReader(FACTS);

/** Checks what a host sent. Throws. */
export function readMarked(text: string): MarkedProcesses {
  const facts = readFacts(text);
  const { length } = facts.processes;
  if (length > NAMED_MAX || length > facts.count) throw new Error(`facts: ${length} processes, of ${facts.count}`);
  return facts;
}

/** USER_HZ: the unit of times in /proc. */
const TICKS_A_SECOND = 100;

/**
 * Its argument are mark, session (absent: no search by limits), settleMs and waitMs. It asks how old the session is
 * when the login is over, however long that took, and compares start times with its own, which the same kernel has
 * written. An agent's own id is in its limit.
 */
const PROGRAM = hostProgram(`${PROC_FUNCTIONS}
var given = JSON.parse(String(Buffer.from(hash, 'hex'))), mark = given.mark, since, begin, seen = {}, above = {};
var name = mark.slice(0, mark.indexOf('=') + 1);
var toolMark = 'STCI_TOOL_MARK=', ownMark = toolMark + given.session + '-';
function nowMs() { return me.uptime() * 1000; }
function fieldsOf(pid) {
  var stat = read(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
function isDead(fields) { return fields[0] === 'Z' || fields[0] === 'X'; }
function spaceOf(pid) { return fs.readlinkSync('/proc/' + pid + '/ns/pid'); }
function isAgentGone(limit) {
  var agent = String(BigInt.asUintN(22, BigInt(limit)));
  try { return limitOf(agent) !== limit || isDead(fieldsOf(agent)); } catch (e) { return true; }
}
function isLimited(pid, fields, variables) {
  if (given.session === undefined || !(+fields[19] >= since) || usersOf(pid) !== users) return false;
  if (variables.some(function (one) {
    return one.indexOf(name) === 0 || one.indexOf(toolMark) === 0 && one.indexOf(ownMark) !== 0;
  })) return false;
  var limit = limitOf(pid);
  return limit !== undefined && spaceOf(pid) === space && isAgentGone(limit);
}
function lookAt(pid, atMs) {
  var fields = fieldsOf(pid), variables = [];
  if (isDead(fields)) return;
  try { variables = read(pid, 'environ').split('\\0'); } catch (e) {}
  var marked = variables.indexOf(mark) >= 0;
  if (!marked && !isLimited(pid, fields, variables)) return;
  var id = pid + ' ' + fields[19], command = read(pid, 'cmdline').split('\\0').join(' ').trim();
  if (seen[id] === undefined) seen[id] = atMs;
  var settled = marked || atMs - seen[id] >= given.settleMs;
  return { pid: pid, command: command || read(pid, 'comm').trim(), settled: settled };
}
function search() {
  var found = [], atMs = nowMs();
  fs.readdirSync('/proc').forEach(function (pid) {
    if (!/^[0-9]+$/.test(pid) || above[pid]) return;
    try {
      var one = lookAt(pid, atMs);
      if (one) found.push(one);
    } catch (e) {}
  });
  return found;
}
for (var pid = String(me.pid); +pid > 0 && !above[pid]; pid = fieldsOf(pid)[1]) above[pid] = true;
var space = spaceOf('self'), users = usersOf('self');
var nowTicks = +fieldsOf('self')[19] + me.uptime() * ${TICKS_A_SECOND};
me.stdin.on('end', function () { me.exit(0); });
me.stdin.on('error', function () { me.exit(0); });
me.stdin.once('data', function (text) {
  since = nowTicks - text * ${TICKS_A_SECOND} / 1000;
  begin = nowMs();
  look();
});
say('ask');
function look() {
  var found = search(), restMs = begin + given.waitMs - nowMs();
  var settled = found.filter(function (one) { return one.settled; });
  if (restMs + (settled.length < found.length ? 2 * given.settleMs : 0) > 0 && found.length > 0) {
    return setTimeout(look, ${LOOK_MS});
  }
  say('facts ' + JSON.stringify({
    boot: fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
    space: space, count: settled.length, processes: named(settled),
  }));
}
`);

/** On this machine where no host is named. Resolves with a text where it is not known: why. Never rejects. */
export async function lookForMarks(
  host: HostSpec | undefined, params: Params, search: MarkSearch, deadlineMs: number,
): Promise<MarkedProcesses | string> {
  const nonce = makeNonce();
  const { mark, own, waitMs } = search;
  const argument = hexWord(JSON.stringify({ mark, session: own?.session, settleMs: own?.settleMs, waitMs }));
  const answer = (): string => `${own?.ageMs() ?? 0}\n`;
  const init = { nonce, deadlineMs: Math.round(deadlineMs), read: readMarked, clocks: 0, answer };
  if (host === undefined) {
    const { facts, invalid, lines } = await runProbe(localCommand(PROGRAM, nonce, process.execPath, argument), init);
    return facts ?? `the search itself failed: ${invalid ?? lines.join('; ')}`;
  }
  const wrong = hostProblem(host.name);
  if (wrong !== undefined) return `it ${wrong}`;
  const ssh = sshParams(params.under('launcherproc.ssh'));
  // A little less than the deadline: ssh's own message is better than ours.
  const connectMs = Math.min(ssh.connectMs, (deadlineMs * 3) / 4);
  const result = await runProbe(probeCommand(host, { ...ssh, connectMs }, nonce, PROGRAM, argument), init);
  return result.facts ?? probeProblem(host, ssh, result, init.deadlineMs).problem;
}
