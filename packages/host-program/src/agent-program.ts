/**
 * The programs that run the agent on a host: from the bundle in its cache, or from one that comes over standard input.
 * One agent has its channel on standard input and output; of agents that are started together, each waits for a
 * connection.
 */

import type { AgentWait } from '@stci/interface';
import { MAKE_DIRECTORY, hostProgram } from './loader.js';

/** Bundles of other versions are removed when they were unused for this long. */
const UNUSED_DAYS_MAX = 30;

/** Most characters of an answer's addresses: Slurm cuts lines of a step's output at 1024 bytes. */
const ADDRESSES_CHARS_MAX = 800;

/**
 * Functions that find the agent's bundle, take it from standard input, and run it. Hashing takes longer than all else
 * here, so a file whose hash was verified gets a record of its inode, size and both times. A change of the file changes
 * its ctime, which cannot be set back; then it is hashed again. Only files older than two seconds get a record, since a
 * change in the same tick of the file system's clock would not show. Hosts of one start may share the cache: each
 * writes a file of its own, and the last one stays; a host that cannot write uses what another has stored meanwhile.
 */
const BUNDLE = `${MAKE_DIRECTORY}
var home = me.env.XDG_CACHE_HOME || '';
var dir = path.join(home[0] === '/' ? home : path.join(require('os').homedir(), '.cache'), 'stci');
var file = path.join(dir, 'agent-' + hash + '.cjs'), seen = path.join(dir, 'agent-' + hash + '.ok');
function ours(facts) { return facts.uid === me.getuid() && (facts.mode & 18) === 0; }
function good(bytes) { return require('crypto').createHash('sha256').update(bytes).digest('hex') === hash; }
function open(name) {
  return fs.openSync(name, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
}
function identity(facts) { return [facts.ino, facts.size, facts.mtimeMs, facts.ctimeMs].join(' '); }
function wasSeen(facts) {
  var fd;
  try {
    fd = open(seen);
    var own = fs.fstatSync(fd);
    return own.isFile() && own.size < 999 && ours(own) && fs.readFileSync(fd, 'latin1') === identity(facts);
  } catch (e) {
    return false;
  } finally { if (fd !== undefined) fs.closeSync(fd); }
}
function remember(fd, facts) {
  if (Date.now() - facts.ctimeMs < 2000 || identity(fs.fstatSync(fd)) !== identity(facts)) return;
  try {
    fs.fsyncSync(fd);
    write(seen, Buffer.from(identity(facts)));
  } catch (e) {}
}
function cached() {
  var fd;
  try {
    fd = open(file);
  } catch (e) { return undefined; }
  try {
    if (Date.now() - fs.fstatSync(fd).mtimeMs > 864e5) try { fs.futimesSync(fd, new Date(), new Date()); } catch (e) {}
    var facts = fs.fstatSync(fd);
    if (facts.isFile() && facts.size === size && ours(facts) && ours(fs.lstatSync(dir))) {
      var bytes = Buffer.allocUnsafeSlow(size), at = 0, got = 1;
      while (got > 0 && at < size) at += got = fs.readSync(fd, bytes, at, size - at, at);
      if (at === size && wasSeen(facts)) return bytes;
      if (at === size && good(bytes)) {
        remember(fd, facts);
        return bytes;
      }
    }
    note(file + ' is not what was stored there, or others may write to it: it is not run');
  } catch (e) {
    note(file + ' cannot be used: ' + e.message);
  } finally { fs.closeSync(fd); }
  return undefined;
}
function take(wanted, done) {
  var bytes = Buffer.allocUnsafeSlow(wanted), at = 0;
  var timer = setTimeout(function () {
    note('the agent did not come within ' + waitMs + ' ms');
    me.kill(me.pid, 'SIGKILL');
  }, waitMs);
  function next() {
    fs.read(0, bytes, at, wanted - at, null, function (e, got) {
      if (e && e.code === 'EAGAIN') return setTimeout(next, 5);
      if (e || got === 0) me.exit(1);
      at += got;
      if (at < wanted) return next();
      clearTimeout(timer);
      done(bytes);
    });
  }
  next();
}
function receive(done) {
  take(size, function (bytes) {
    if (good(bytes)) return done(bytes, keep(bytes));
    say('fail bundle it was changed on the way: its hash differs');
    me.exit(1);
  });
}
function keep(bytes) {
  var kept = stored(bytes);
  if (kept) setTimeout(prune, 1000).unref();
  return kept;
}
function makeCache() {
  try {
    makeDirectory(dir);
  } catch (e) {
    if (e.code === 'ENOENT') fs.accessSync(require('os').homedir(), 2);
    throw e;
  }
}
function write(name, bytes) {
  var host = require('os').hostname().slice(0, 64);
  var next = [name, nonce, host, me.pid, 'tmp'].join('.'), fd = fs.openSync(next, 'wx', 384);
  try {
    for (var at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at, bytes.length - at);
    fs.renameSync(next, name);
  } catch (e) {
    fs.unlinkSync(next);
    throw e;
  } finally { fs.closeSync(fd); }
}
function stored(bytes) {
  try {
    makeCache();
    var facts = fs.lstatSync(dir);
    if (facts.isDirectory() && facts.uid === me.getuid() && !ours(facts)) fs.chmodSync(dir, 448);
    if (!facts.isDirectory() || facts.uid !== me.getuid()) throw new Error(dir + ' is not a directory of this user');
    write(file, bytes);
    return true;
  } catch (e) {
    if (cached() !== undefined) return true;
    note('the agent runs from memory, for its bundle cannot be kept on this host: ' + e.message);
    return false;
  }
}
function prune() {
  try {
    fs.readdirSync(dir).forEach(function (name) {
      var isBundle = /^agent-[0-9a-f]{64}[.](cjs|ok)$/.test(name);
      var days = isBundle ? ${UNUSED_DAYS_MAX} : /^agent-.*[.]tmp$/.test(name) ? 1 : Infinity;
      var other = path.join(dir, name);
      if (other === file || other === seen) return;
      if (Date.now() - fs.lstatSync(other).mtimeMs > days * 864e5) fs.unlinkSync(other);
    });
  } catch (e) {}
}
function run(bytes, kept, waits) {
  me.title = 'stci-agent';
  var main = { exports: {} }, names = ['require', 'module', 'exports', '__filename', '__dirname', 'stciShipped'];
  var shipped = { hash: hash, bytes: bytes, path: kept ? file : undefined, waitMs: waitMs, held: held, waits: waits };
  var head = bytes.latin1Slice(0, bytes.indexOf('\\n//\\n') + 1 || size);
  require('vm').compileFunction(head, names, { filename: file })(
    require, main, main.exports, file, dir, shipped);
}
`;

const RUN_AGENT = `${BUNDLE}
var bytes = cached();
if (bytes !== undefined) {
  say('have');
  run(bytes, true);
} else {
  say('need');
  receive(function (bytes, kept) {
    say('run');
    run(bytes, kept);
  });
}
`;


/** The program that runs the agent. */
export const PROGRAM_TEXT = hostProgram(RUN_AGENT);

/**
 * Takes the start's secret, a line of 64 hexadecimal digits, then the bundle, if this host needs it; other input is for
 * others. The agent's key is derived with the host's name in Slurm. By default it listens at all addresses but those of
 * loopback, and names first those of the network by which the launching host is reached: others may lead nowhere. Those
 * that cannot be bound, for they are duplicates or of an interface that has just gone, are left out.
 */
const WAIT = `${BUNDLE}
var name = me.env.SLURMD_NODENAME || require('os').hostname();
function nearLauncher(entry) {
  try {
    var net = require('net'), here = new net.BlockList(), from = me.env.SLURM_LAUNCH_NODE_IPADDR || '';
    here.addSubnet(entry.address, +entry.cidr.split('/')[1], entry.family.toLowerCase());
    return here.check(from, from.indexOf(':') < 0 ? 'ipv4' : 'ipv6');
  } catch (e) {
    return false;
  }
}
function allInterfaces() {
  var found = [], all = require('os').networkInterfaces();
  Object.keys(all).forEach(function (key) {
    all[key].forEach(function (entry) {
      if (entry.internal || /^fe80:/.test(entry.address)) return;
      found.push({ address: entry.address, rank: (nearLauncher(entry) ? 0 : 2) + (entry.family === 'IPv6' ? 1 : 0) });
    });
  });
  found.sort(function (a, b) { return a.rank - b.rank; });
  return found.map(function (one) { return one.address; });
}
function usable(addresses, done) {
  var good = addresses.slice(), left = addresses.length;
  function next() {
    if (left-- === 0) done(good.length > 0 ? good : ['127.0.0.1']);
  }
  addresses.forEach(function (address) {
    var server = require('net').createServer();
    server.on('error', function (e) {
      if (e.code === 'EADDRNOTAVAIL') good.splice(good.indexOf(address), 1);
      next();
    });
    server.listen({ host: address, port: 0 }, function () { server.close(next); });
  });
  next();
}
function tellPlace(addresses) {
  var text = 'wait';
  addresses.forEach(function (address) {
    if (text.length + address.length < ${ADDRESSES_CHARS_MAX}) text += ' ' + address;
  });
  say(text);
}
function begin(secret, bytes, kept) {
  var key = require('crypto').createHmac('sha256', secret).update(name).digest();
  function listen(at) {
    run(bytes, kept, { key: key, interfaces: at, ports: given.ports, waitMs: waitMs, say: tellPlace });
  }
  if (given.interfaces.length > 0) listen(given.interfaces);
  else usable(allInterfaces(), listen);
}
me.on('exit', function (code) { try { say('end ' + code); } catch (e) {} });
var bytes = cached();
say(bytes === undefined ? 'need' : 'have');
take(65, function (line) {
  var secret = Buffer.from(line.latin1Slice(0, 64), 'hex');
  if (secret.length !== 32 || line[64] !== 10) {
    say('fail bundle its secret was changed on the way');
    me.exit(1);
  }
  if (bytes !== undefined) return begin(secret, bytes, true);
  receive(function (bytes, kept) { begin(secret, bytes, kept); });
});
`;

/** The program of agents that are started together: each says `have` or `need`, `wait ADDRESS…`, `end STATUS`. */
export function waitProgram({ interfaces, ports }: Pick<AgentWait, 'interfaces' | 'ports'>): string {
  const given = JSON.stringify({ interfaces, ports }).replaceAll(/[^ -~]/g, escaped);
  return hostProgram(`var given = ${given};\n${WAIT}`);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
