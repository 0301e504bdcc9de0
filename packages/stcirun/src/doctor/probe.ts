/**
 * What doctor runs on a host, as text, in the place of the agent and by the same way to it (launcher-ssh's loader):
 * looks at node, ports, cache and leftovers, tells all as one line of JSON, then answers each byte of its standard
 * input with its clock, and ends with that. Plain old JavaScript: see the loader.
 */

import { hostProgram } from '@stci/launcher-ssh';

/** As much as the agent's bundle takes, roughly. */
const CACHE_BYTES = 600_000;
/** Ports of a range that are tried. */
const PORTS_TRIED_MAX = 64;
/** However it is cut off from us, it does not stay. */
const LIFE_MS = 120_000;
/** Leftovers that are named. */
const NAMED_MAX = 20;

/** What it tells. */
export interface HostFacts {
  readonly node: string;
  readonly nodePath: string;
  readonly hostname: string;
  /** Of those that were tried, and the first one. 0 tried: any port would do, and `free` is 1 where one was found. */
  readonly ports: { readonly tried: number; readonly free: number; readonly first?: number; readonly error?: string };
  readonly cache: { readonly path: string; readonly error?: string };
  /** Processes that STCI started and that nobody looks after; `agents` look after jobs that run. */
  readonly left: readonly { readonly pid: number; readonly command: string }[];
  readonly leftCount: number;
  readonly agents: number;
}

/** Expects `low` and `tried`: the first port and how many, or 0 and 0. */
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
function parentOf(pid) {
  var stat = fs.readFileSync('/proc/' + pid + '/stat', 'latin1');
  return +stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
}
function isAgent(command) {
  return command[0] === 'stci-agent' || command.some(function (word) {
    return /[/]bundle[/]agent[.]cjs$|[/]agent-[0-9a-f]{64}[.]cjs$/.test(word);
  });
}
function leftovers() {
  var all = {}, left = [], agents = 0;
  fs.readdirSync('/proc').forEach(function (pid) {
    if (!/^[0-9]+$/.test(pid) || +pid === me.pid) return;
    try {
      var command = fs.readFileSync('/proc/' + pid + '/cmdline', 'latin1').split('\\0');
      var mark = fs.readFileSync('/proc/' + pid + '/environ', 'latin1').indexOf('STCI_TOOL_MARK=') >= 0;
      all[pid] = { parent: parentOf(pid), agent: isAgent(command), mark: mark, command: command.join(' ').trim() };
    } catch (e) {}
  });
  function isReaper(pid) { return pid === 1 || !!all[pid] && /(^|[/])systemd( |$)/.test(all[pid].command); }
  function isKept(pid) {
    for (var steps = 0; all[pid] && steps < 1000; steps++) {
      if (all[pid].agent) return !isReaper(all[pid].parent);
      pid = all[pid].parent;
    }
    return false;
  }
  Object.keys(all).forEach(function (pid) {
    var one = all[pid], kept = isKept(pid);
    if (one.agent && kept) agents++;
    if ((one.agent || one.mark) && !kept) left.push({ pid: +pid, command: one.command.slice(0, 80) });
  });
  facts.agents = agents;
  facts.leftCount = left.length;
  facts.left = left.slice(0, ${NAMED_MAX});
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
try { leftovers(); } catch (e) { facts.left = []; facts.leftCount = facts.agents = 0; }
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
export function probeProgram(ports: readonly [number, number] | undefined): string {
  const [low, high] = ports ?? [0, -1];
  const tried = Math.min(PORTS_TRIED_MAX, high - low + 1);
  return hostProgram(`var low = ${low}, tried = ${tried};\n${BODY}`);
}
