/**
 * Text of the program that doctor runs on a host instead of the agent, started in the same way (launcher-ssh's loader):
 * checks node, ports, cache and leftovers (and ends those if asked to), writes the results as one line of JSON,
 * then answers each byte of its standard input with its clock until end of file. Plain old JavaScript: see the loader.
 */

import { check, integer, list, object, oneOf, optional, word, u32, type Shape } from '@stci/core';
import { MAKE_DIRECTORY, hostProgram } from '@stci/host-program';
import { printable } from '@stci/interface';
import { MARK_TAG, TAG_SHIFT } from '@stci/platform-node';
import {
  KINDS, LINKED_MPI, MISSING_MAX, type LinkedMpi, type LinkPlaces,
} from '../files/linked-mpi.js';

/** Ports of a range that are tried. */
const PORTS_TRIED_MAX = 64;
/** Lifetime of the probe, so that it ends even if its connection hangs. */
const LIFE_MS = 120_000;
/** Leftovers that are named. */
export const NAMED_MAX = 20;
/** Number of searches while leftovers are being ended. */
const CLEAN_ROUNDS = 50;

/** What it is to check. */
export interface ProbeParams {
  /** First and last; undefined: any. */
  readonly ports: readonly [number, number] | undefined;
  /** End what earlier runs left. */
  readonly clean: boolean;
  readonly bundleBytes: number;
  /** Whose MPI library is to be found. */
  readonly asked: AskedProgram | undefined;
}

/** A program, and where it and its libraries are looked for, on each host. */
export interface AskedProgram extends LinkPlaces {
  readonly program: string;
}

/** The results that it writes. */
export interface HostFacts {
  readonly node: string;
  readonly nodePath: string;
  readonly hostname: string;
  /** Of those that were tried, and the first one. 0 tried: any port would do, and `free` is 1 where one was found. */
  readonly ports: { readonly tried: number; readonly free: number; readonly first?: number; readonly error?: string };
  readonly cache: { readonly path: string; readonly error?: string };
  /** Orphans: processes that STCI started and that have no agent any more. `agents`: those of running jobs. */
  readonly left: readonly { readonly pid: number; readonly command: string }[];
  readonly leftCount: number;
  readonly agents: number;
  /** Processes that were ended, where that was asked for. */
  readonly ended: readonly { readonly pid: number; readonly command: string }[];
  readonly endedCount: number;
  /** Private sockets of processes that have ended, removed where that was asked for. */
  readonly sockets: number;
  /** Of the program that was asked for. */
  readonly linked?: LinkedMpi;
}

/** Most processes of a host. */
export const PIDS_MAX = 2 ** 22;

export const someProcesses = list(
  object<HostFacts['left'][number]>({ pid: integer(1, PIDS_MAX), command: word }), PIDS_MAX,
);
const FACTS = object<HostFacts>({
  node: word,
  nodePath: word,
  hostname: word,
  ports: object<HostFacts['ports']>({ tried: u32, free: u32, first: optional(u32), error: optional(word) }),
  cache: object<HostFacts['cache']>({ path: word, error: optional(word) }),
  left: someProcesses,
  leftCount: u32,
  agents: u32,
  ended: someProcesses,
  endedCount: u32,
  sockets: u32,
  linked: optional(object<LinkedMpi>({
    kind: oneOf(...KINDS), file: optional(word), interpreter: optional(word), library: optional(word),
    libraryFile: optional(word), via: optional(word), family: optional(word), version: optional(word),
    missing: list(word, MISSING_MAX),
  })),
});

/** Checks what a host sent; each of its texts becomes one line that a terminal prints as it is. Throws. */
export function factsReader<T>(shape: Shape<T>): (text: string) => T {
  const oneLine = (_key: string, value: unknown): unknown =>
    typeof value === 'string' ? printable(value.replaceAll(/\s+/g, ' ')) : value;
  return (text) => check(shape, JSON.parse(text, oneLine), 'facts');
}

export const hostFacts = factsReader(FACTS);

/** The program that a command line of Node runs: the first word that is neither an option nor the value of one. */
export const PROGRAM_OF = `
var VALUED = new RegExp('^(-[rC]|--(require|import|loader|experimental-loader|conditions|env-file|title|icu-data-dir'
  + '|env-file-if-exists|openssl-config|unhandled-rejections|disable-warning|redirect-warnings|diagnostic-dir'
  + '|input-type|dns-result-order|inspect-port|max-http-header-size))$');
function programOf(command) {
  for (var i = 1; i < command.length; i++) {
    if (VALUED.test(command[i])) i++;
    else if (command[i][0] !== '-') return command[i];
  }
}
`;

/** What a program reads of a process: files of /proc, users, the mark that agents leave as a limit; names of some. */
export const PROC_FUNCTIONS = `
function read(pid, name) { return fs.readFileSync('/proc/' + pid + '/' + name, 'latin1'); }
function usersOf(pid) { return /^Uid:.*/m.exec(read(pid, 'status'))[0]; }
function limitOf(pid) {
  var limit = (/^Max file locks +([0-9]+)/m.exec(read(pid, 'limits')) || [])[1];
  return limit && BigInt(limit) >> BigInt(${TAG_SHIFT}) === BigInt(${MARK_TAG}) ? limit : undefined;
}
function named(list) {
  return list.slice(0, ${NAMED_MAX}).map(function (one) {
    return { pid: +one.pid, command: one.command.slice(0, 80) };
  });
}
`;

/**
 * Expects `low` and `tried`, the first port and how many, or 0 and 0; `wantsClean`; `size`, that of the agent's
 * bundle; and `asked`, an AskedProgram, with LINKED_MPI, or undefined. Leftovers carry the mark of an agent
 * (platform-node's process-mark.ts), or are agents, and no agent of a running job is their ancestor or shares the
 * mark with them; nor does the login itself. Processes of this user only, and none above this program. A front-end
 * is known by the agent or the guardian that it is the parent of, because it may be called by any name; by its name
 * too, where it is the first process of a container. Words of a command line alone make no process an agent that may
 * be ended: the program that it runs has to be Node. An agent that is stopped, and has no process that is to
 * continue it, is left over as well: it is continued, and ends itself if it has lost its parent.
 */
const BODY = `${PROGRAM_OF}${MAKE_DIRECTORY}
var facts = { node: me.version, nodePath: real(me.execPath), hostname: require('os').hostname() };
function cache() {
  var home = me.env.XDG_CACHE_HOME || '';
  var dir = path.join(home[0] === '/' ? home : path.join(require('os').homedir(), '.cache'), 'stci');
  var whose = facts.hostname + '-' + me.pid; // Hosts of one step have the nonce in common, and maybe this directory.
  var file = path.join(dir, 'agent-doctor-' + nonce + '-' + whose + '.tmp');
  try {
    makeDirectory(dir);
    var own = fs.lstatSync(dir);
    if (!own.isDirectory() || own.uid !== me.getuid()) throw new Error(dir + ' is not a directory of this user');
    try { fs.writeFileSync(file, Buffer.alloc(size), { flag: 'wx' }); } finally {
      try { fs.unlinkSync(file); } catch (e) {}
    }
    return { path: dir };
  } catch (e) { return { path: dir, error: e.message }; }
}
${PROC_FUNCTIONS}function isAgent(pid, own, command) {
  var file = command[1] === '-e' && command[3] === '--' ? command[4] : command[1];
  var isShell = command[0] === '/bin/sh' && /[/]bundle[/]agent[.]sh$/.test(file);
  var isFile = /[/]bundle[/]agent[.]cjs$|[/]agent-[0-9a-f]{64}[.]cjs$|[/]stci-agent-[0-9a-f-]{33}[.]cjs$/.test(file);
  var looksSo = command[0] === 'stci-agent' || isShell || isFile;
  if (!looksSo || !own) return looksSo;
  var program = fs.readlinkSync('/proc/' + pid + '/exe').replace(/ [(]deleted[)]$/, '');
  return isShell ? program === real('/bin/sh') : program === facts.nodePath || /[/]node[^/]*$/.test(program);
}
function processOf(pid) {
  var stat = read(pid, 'stat'), command = read(pid, 'cmdline').split('\\0');
  var fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  var one = { pid: pid, parent: fields[1], command: command.join(' ').trim() };
  one.dead = fields[0] === 'Z' || fields[0] === 'X';
  one.own = usersOf(pid) === usersOf('self');
  one.run = [command[0], programOf(command)].some(function (word) {
    return /[/]stcirun([.]cjs)?$/.test(word);
  });
  one.guardian = command[3] === 'stci-guardian';
  one.stands = fields[0] === 'T';
  one.continues = command[3] === 'stci-continuer' ? command[4] : undefined;
  try {
    one.agent = isAgent(pid, one.own, command);
    if (!one.own || one.dead) return one;
    one.mark = (/(?:^|\\0)(STCI_TOOL_MARK=[^\\0]+-[0-9]+-[0-9]+[.])/.exec(read(pid, 'environ')) || [])[1];
    one.limit = limitOf(pid);
  } catch (e) {}
  return one;
}
function leftovers() {
  var self = processOf(me.pid), all = {}, atWork = {}, above = {}, left = [], agents = 0;
  fs.readdirSync('/proc').forEach(function (pid) {
    try { if (/^[0-9]+$/.test(pid)) all[pid] = processOf(pid); } catch (e) {}
  });
  for (var pid = me.pid; all[pid] && !above[pid]; pid = all[pid].parent) above[pid] = true;
  function isReaper(pid) {
    var one = all[pid] || { command: '' };
    return !one.run && (+pid === 1 || /(^|[/])systemd( |$)/.test(one.command));
  }
  function isKept(pid) {
    for (var steps = 0; all[pid] && steps < 1000; steps++) {
      if (all[pid].run || all[pid].agent && !isReaper(all[pid].parent)) return true;
      if (all[pid].agent) return false;
      pid = all[pid].parent;
    }
    return false;
  }
  Object.keys(all).forEach(function (pid) {
    var parent = all[all[pid].parent];
    if (parent && all[pid].guardian && !isReaper(parent.pid)) parent.run = true;
  });
  Object.keys(all).forEach(function (pid) {
    var by = all[pid], one = by.own && !by.stands && all[by.continues];
    if (one) one.stands = false;
  });
  atWork[self.mark] = atWork[self.limit] = true;
  Object.keys(all).forEach(function (pid) {
    var one = all[pid];
    one.kept = isKept(pid);
    if (one.agent && one.own && one.stands) left.push(one);
    if (!one.kept) return;
    if (one.agent && one.own) agents++;
    atWork[one.mark] = atWork[one.limit] = true;
  });
  Object.keys(all).forEach(function (pid) {
    var one = all[pid];
    if (one.kept || left.indexOf(one) >= 0 || !one.own || one.dead || above[pid]) return;
    if (!one.agent && !one.mark && !one.limit) return;
    if (!(one.mark && atWork[one.mark] || one.limit && atWork[one.limit])) left.push(one);
  });
  facts.agents = agents;
  facts.leftCount = left.length;
  facts.left = named(left);
  return left;
}
function clean() {
  var ended = {}, pause = new Int32Array(new SharedArrayBuffer(4));
  for (var rounds = 0, left = leftovers(); left.length > 0 && rounds < ${CLEAN_ROUNDS}; left = leftovers(), rounds++) {
    left.forEach(function (one) {
      if (one.stands) one.command = 'continued, as it was stopped: ' + one.command;
      try { me.kill(+one.pid, one.stands ? 'SIGCONT' : 'SIGKILL'); ended[one.pid] = one; } catch (e) {}
    });
    Atomics.wait(pause, 0, 0, 20);
  }
  var list = Object.keys(ended).map(function (pid) { return ended[pid]; });
  facts.endedCount = list.length;
  facts.ended = named(list);
}
function sockets(done) {
  var names = [], bound = '', name = 'stci-' + me.getuid(), temporary = path.join(require('os').tmpdir(), name);
  var places = [path.join(me.env.XDG_RUNTIME_DIR || '/', 'stci'), temporary, '/tmp/' + name];
  fs.readdirSync('/tmp').forEach(function (one) { if (one.indexOf(name + '-') === 0) places.push('/tmp/' + one); });
  try { bound = fs.readFileSync('/proc/net/unix', 'utf8') + '\\n'; } catch (e) {}
  places.filter(function (dir, i) { return places.indexOf(dir) === i; }).forEach(function (dir) {
    try {
      var own = fs.lstatSync(dir);
      if (!own.isDirectory() || own.uid !== me.getuid() || own.mode & 63) return;
      fs.readdirSync(dir).forEach(function (file) {
        var one = path.join(dir, file);
        if (/[.]sock$/.test(file) && bound.indexOf(' ' + one + '\\n') < 0) names.push(one);
      });
    } catch (e) {}
  });
  (function next() {
    var one = names.pop();
    if (one === undefined) return done();
    var peer = require('net').connect({ path: one });
    peer.on('connect', function () { peer.destroy(); });
    peer.on('error', function (e) {
      if (e.code === 'ECONNREFUSED') try { fs.unlinkSync(one); facts.sockets++; } catch (e) {}
    });
    peer.on('close', next);
  })();
}
function ports(done) {
  var found = { tried: tried, free: 0 }, port = low;
  (function next() {
    if (port > low + Math.max(tried, 1) - 1) return done(found);
    var server = require('net').createServer();
    server.on('error', function (e) { found.error = e.message; port++; next(); });
    server.listen(port, function () {
      if (found.free++ === 0) found.first = server.address().port;
      server.close(function () { port++; next(); });
    });
  })();
}
setTimeout(function () { me.exit(0); }, ${LIFE_MS});
facts.cache = cache();
facts.left = facts.ended = [];
facts.leftCount = facts.endedCount = facts.agents = facts.sockets = 0;
try { if (wantsClean) clean(); else leftovers(); } catch (e) {}
try { if (asked) facts.linked = linkedMpi(asked.program, asked); } catch (e) {}
function report(found) {
  facts.ports = found;
  say('facts ' + JSON.stringify(facts));
  me.stdin.on('data', function (bytes) {
    for (var i = 0; i < bytes.length; i++) say('clock ' + Date.now());
  });
  me.stdin.on('end', function () { me.exit(0); });
}
if (wantsClean) sockets(function () { ports(report); });
else ports(report);
`;

export function probeProgram({ ports, clean, bundleBytes, asked }: ProbeParams): string {
  const [low, high] = ports ?? [0, -1];
  const tried = Math.min(PORTS_TRIED_MAX, high - low + 1);
  const linked = asked === undefined ? 'var asked;' : `var asked = ${asciiJson(asked)};${LINKED_MPI}`;
  const asks = `var low = ${low}, tried = ${tried}, wantsClean = ${clean}, size = ${bundleBytes};`;
  return hostProgram(`${asks}\n${linked}\n${BODY}`);
}

/** What is sent to a host is ASCII. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[^ -~]/gu, (char) =>
    [...Array(char.length).keys()].map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''));
}
