/**
 * Text of the program that doctor runs on a host instead of the agent, started in the same way (launcher-ssh's loader):
 * checks node, ports, cache and leftovers (and ends those if asked to), writes the results as one line of JSON,
 * then answers each byte of its standard input with its clock until end of file. Plain old JavaScript: see the loader.
 */

import { hostProgram } from '@stci/launcher-ssh';

/** As much as the agent's bundle takes, roughly. */
const CACHE_BYTES = 600_000;
/** Ports of a range that are tried. */
const PORTS_TRIED_MAX = 64;
/** Lifetime of the probe, so that it ends even if its connection hangs. */
const LIFE_MS = 120_000;
/** Leftovers that are named. */
const NAMED_MAX = 20;
/** Number of searches while leftovers are being ended. */
const CLEAN_ROUNDS = 50;
/** A mark by limit holds the agent's process id in its lower part. */
const PIDS = 2 ** 22;

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
  /** Those that were ended, where that was asked for. */
  readonly ended: readonly { readonly pid: number; readonly command: string }[];
  readonly endedCount: number;
}

/**
 * Expects `low` and `tried`, the first port and how many, or 0 and 0; and `wantsClean`. Leftovers
 * carry the mark of an agent (platform-node's process-mark.ts), or are agents, and no agent of a running job is their
 * ancestor or shares the mark with them. Processes of this user only, and none above this program.
 */
const BODY = `
var facts = { node: me.version, nodePath: real(me.execPath), hostname: require('os').hostname() };
function cache() {
  var home = me.env.XDG_CACHE_HOME || '';
  var dir = path.join(home[0] === '/' ? home : path.join(require('os').homedir(), '.cache'), 'stci');
  var file = path.join(dir, 'agent-doctor-' + nonce + '.tmp');
  try {
    fs.mkdirSync(dir, { recursive: true, mode: 448 });
    var own = fs.lstatSync(dir);
    if (!own.isDirectory() || own.uid !== me.getuid()) throw new Error(dir + ' is not a directory of this user');
    try { fs.writeFileSync(file, Buffer.alloc(${CACHE_BYTES}), { flag: 'wx' }); } finally {
      try { fs.unlinkSync(file); } catch (e) {}
    }
    return { path: dir };
  } catch (e) { return { path: dir, error: e.message }; }
}
function read(pid, name) { return fs.readFileSync('/proc/' + pid + '/' + name, 'latin1'); }
function isAgent(command) {
  return command[0] === 'stci-agent' || command.some(function (word) {
    return /[/]bundle[/]agent[.]cjs$|[/]agent-[0-9a-f]{64}[.]cjs$/.test(word);
  });
}
function isRun(command) { return command.some(function (word) { return /[/]stcirun([.]cjs)?$/.test(word); }); }
function processOf(pid) {
  var stat = read(pid, 'stat'), command = read(pid, 'cmdline').split('\\0');
  var fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  var one = { pid: pid, parent: fields[1], agent: isAgent(command), run: isRun(command) };
  one.dead = fields[0] === 'Z' || fields[0] === 'X';
  one.command = command.join(' ').trim();
  one.own = fs.statSync('/proc/' + pid).uid === me.getuid();
  if (!one.own || one.dead) return one;
  one.mark = (/(?:^|\\0)(STCI_TOOL_MARK=[^\\0]+)/.exec(read(pid, 'environ')) || [])[1];
  var limit = (/^Max file locks +([0-9]+)/m.exec(read(pid, 'limits')) || [])[1];
  if (limit && BigInt(limit) / BigInt(${PIDS}) > 0) one.limit = limit;
  return one;
}
function leftovers() {
  var all = {}, atWork = {}, above = {}, left = [], agents = 0;
  fs.readdirSync('/proc').forEach(function (pid) {
    try { if (/^[0-9]+$/.test(pid)) all[pid] = processOf(pid); } catch (e) {}
  });
  for (var pid = me.pid; all[pid] && !above[pid]; pid = all[pid].parent) above[pid] = true;
  function isReaper(pid) { return +pid === 1 || !!all[pid] && /(^|[/])systemd( |$)/.test(all[pid].command); }
  function isKept(pid) {
    for (var steps = 0; all[pid] && steps < 1000; steps++) {
      if (all[pid].run || all[pid].agent && !isReaper(all[pid].parent)) return true;
      if (all[pid].agent) return false;
      pid = all[pid].parent;
    }
    return false;
  }
  Object.keys(all).forEach(function (pid) {
    var one = all[pid];
    one.kept = isKept(pid);
    if (!one.kept) return;
    if (one.agent && one.own) agents++;
    atWork[one.mark] = atWork[one.limit] = true;
  });
  Object.keys(all).forEach(function (pid) {
    var one = all[pid];
    if (one.kept || !one.own || one.dead || above[pid] || !(one.agent || one.mark || one.limit)) return;
    if (!(one.mark && atWork[one.mark] || one.limit && atWork[one.limit])) left.push(one);
  });
  facts.agents = agents;
  facts.leftCount = left.length;
  facts.left = named(left);
  return left;
}
function named(list) {
  return list.slice(0, ${NAMED_MAX}).map(function (one) {
    return { pid: +one.pid, command: one.command.slice(0, 80) };
  });
}
function clean() {
  var ended = {}, pause = new Int32Array(new SharedArrayBuffer(4));
  for (var rounds = 0, left = leftovers(); left.length > 0 && rounds < ${CLEAN_ROUNDS}; left = leftovers(), rounds++) {
    left.forEach(function (one) {
      try { me.kill(+one.pid, 'SIGKILL'); ended[one.pid] = one; } catch (e) {}
    });
    Atomics.wait(pause, 0, 0, 20);
  }
  var list = Object.keys(ended).map(function (pid) { return ended[pid]; });
  facts.endedCount = list.length;
  facts.ended = named(list);
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
facts.leftCount = facts.endedCount = facts.agents = 0;
try { if (wantsClean) clean(); else leftovers(); } catch (e) {}
ports(function (found) {
  facts.ports = found;
  say('facts ' + JSON.stringify(facts));
  me.stdin.on('data', function (bytes) {
    for (var i = 0; i < bytes.length; i++) say('clock ' + Date.now());
  });
  me.stdin.on('end', function () { me.exit(0); });
});
`;

/** `ports`: first and last; undefined: any. */
export function probeProgram(ports: readonly [number, number] | undefined, clean: boolean): string {
  const [low, high] = ports ?? [0, -1];
  const tried = Math.min(PORTS_TRIED_MAX, high - low + 1);
  return hostProgram(`var low = ${low}, tried = ${tried}, wantsClean = ${clean};\n${BODY}`);
}
