/**
 * What runs on a host before the agent does, as text: a line of shell that finds a node, and a program for that node
 * which finds the agent's bundle in its cache, or asks for it over standard input, checks its hash and runs it.
 *
 * Whatever login shell the user has reads the shell's text as single-quoted words, so it holds no single quote, no
 * exclamation mark (csh), no backslash (fish), no newline. The program travels in base64 for the same reason. It is
 * parsed by nodes that are too old to run the agent, which must be able to say so: plain old syntax only.
 *
 * They answer on standard output with lines `STCI NONCE WORD…`; see answers.ts.
 */

/** Oldest major version of Node that runs the agent. */
export const NODE_MAJOR_MIN = 20;

/** Bundles of other versions are removed when they were not used for so long. */
const UNUSED_DAYS_MAX = 30;

/** Where installers and version managers put node, below HOME. */
const HOME_PLACES = [
  '.local/bin', 'bin', '.volta/bin', 'n/bin', '.nvm/versions/node/*/bin', '.asdf/shims',
  '.local/share/mise/shims', '.local/share/fnm/node-versions/*/installation/bin', '.nodenv/shims',
];

/** … and elsewhere. */
const PLACES = [
  '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin', '/opt/node*/bin', '/usr/local/node*/bin', '/snap/bin',
];

/** Turns the program's first two arguments into the program. */
export const RUN_FIRST_ARGUMENT = 'eval(String(Buffer.from(process.argv[1],process.argv[2])))';

/**
 * For `sh -c`: $1 program, $2 its encoding, $3 nonce, $4 hash, $5 bytes of the bundle, $6 path of the starter's node
 * (may be empty), $7 the node that the user named, as printf's %b reads it (empty: find one).
 */
export const SHELL_TEXT = [
  'echo "STCI $3 shell"',
  'unset NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE NODE_COMPILE_CACHE NODE_DEBUG',
  'c=',
  'add() { if [ -f "$1" ] && [ -x "$1" ]; then c="$c${c:+:}$1"; fi; }',
  'if [ -n "$7" ]; then n=$(printf %b "$7")'
    + '; case "$n" in "~/"*) n="$HOME/${n#??}";; */*) ;; *) n=$(command -v "$n");; esac; add "$n"',
  'else IFS=:; for d in $PATH; do add "$d/node"; done; unset IFS; add "$6"',
  `for d in ${PLACES.join(' ')} ${HOME_PLACES.map((place) => `"$HOME"/${place}`).join(' ')}; do add "$d/node"; done`,
  'fi',
  'if [ -z "$c" ]; then echo "STCI $3 fail node none"; exit 1; fi',
  `exec "\${c%%:*}" -e "${RUN_FIRST_ARGUMENT}" -- "$1" "$2" "$3" "$4" "$5" "$c"`,
].join('; ');

/**
 * What every program begins with: finds a node that is new enough. Arguments: the program itself, its encoding, nonce,
 * hash, bytes, candidates for node (this one first), old nodes met so far.
 */
const BEGIN = `
var fs = require('fs'), path = require('path'), me = process, args = me.argv;
var nonce = args[3], hash = args[4], size = +args[5], nodes = args[6].split(':'), met = args[7] || '';
function say(words) { fs.writeSync(1, 'STCI ' + nonce + ' ' + words + '\\n'); }
function note(words) { fs.writeSync(2, 'stci: ' + words + '\\n'); }
function real(file) { try { return fs.realpathSync(file); } catch (e) { return file; } }
function tryNextNode() {
  var own = real(nodes[0]);
  met += (met ? ', ' : '') + nodes[0] + ' ' + me.version;
  var rest = nodes.slice(1).filter(function (node) { return real(node) !== own; });
  while (rest.length > 0) {
    var next = ['-e', '${RUN_FIRST_ARGUMENT}', '--'].concat(args.slice(1, 6), rest.join(':'), met);
    var run = require('child_process').spawnSync(rest[0], next, { stdio: 'inherit' });
    if (!run.error) me.exit(run.status === null ? 1 : run.status);
    rest.shift();
  }
  say('fail node old ' + met);
  me.exit(1);
}
if (+me.version.slice(1).split('.')[0] < ${NODE_MAJOR_MIN}) tryNextNode();
`;

/** Finds the agent's bundle, or asks for it, and runs it. */
const RUN_AGENT = `
var home = me.env.XDG_CACHE_HOME || '';
var dir = path.join(home[0] === '/' ? home : path.join(require('os').homedir(), '.cache'), 'stci');
var file = path.join(dir, 'agent-' + hash + '.cjs');
function ours(facts) { return facts.uid === me.getuid() && (facts.mode & 18) === 0; }
function good(bytes) { return require('crypto').createHash('sha256').update(bytes).digest('hex') === hash; }
function cached() {
  var fd, flags = fs.constants;
  try {
    fd = fs.openSync(file, flags.O_RDONLY | flags.O_NOFOLLOW | flags.O_NONBLOCK);
  } catch (e) { return undefined; }
  try {
    var facts = fs.fstatSync(fd), bytes = Buffer.alloc(size), at = 0, got = 1;
    while (got > 0 && at < size) at += got = fs.readSync(fd, bytes, at, size - at, at);
    if (facts.isFile() && facts.size === size && ours(facts) && ours(fs.lstatSync(dir)) && good(bytes)) {
      if (Date.now() - facts.mtimeMs > 864e5) try { fs.futimesSync(fd, new Date(), new Date()); } catch (e) {}
      return bytes;
    }
    note(file + ' is not what was stored there, or others may write to it: it is not run');
  } catch (e) {
    note(file + ' cannot be used: ' + e.message);
  } finally { fs.closeSync(fd); }
  return undefined;
}
function received() {
  var bytes = Buffer.alloc(size), at = 0, got;
  while (at < size) {
    try {
      got = fs.readSync(0, bytes, at, size - at, null);
    } catch (e) {
      if (e.code !== 'EAGAIN') throw e;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      continue;
    }
    if (got === 0) me.exit(1);
    at += got;
  }
  if (good(bytes)) return bytes;
  say('fail bundle it came changed: its hash is another');
  return me.exit(1);
}
function makeDirectory() {
  try {
    fs.mkdirSync(dir, { recursive: true, mode: 448 });
  } catch (e) {
    if (e.code === 'ENOENT') fs.accessSync(require('os').homedir(), 2);
    throw e;
  }
}
function stored(bytes) {
  var fd, next = file + '.' + require('crypto').randomBytes(8).toString('hex') + '.tmp';
  try {
    makeDirectory();
    var facts = fs.lstatSync(dir);
    if (facts.isDirectory() && facts.uid === me.getuid() && !ours(facts)) fs.chmodSync(dir, 448);
    if (!facts.isDirectory() || facts.uid !== me.getuid()) throw new Error(dir + ' is not a directory of this user');
    fd = fs.openSync(next, 'wx', 384);
    for (var at = 0; at < size;) at += fs.writeSync(fd, bytes, at, size - at);
    fs.closeSync(fd);
    fd = undefined;
    fs.renameSync(next, file);
    return true;
  } catch (e) {
    note('the agent runs from memory, for its bundle cannot be kept on this host: ' + e.message);
    try { if (fd !== undefined) fs.closeSync(fd); } catch (e) {}
    try { fs.unlinkSync(next); } catch (e) {}
    return false;
  }
}
function prune() {
  try {
    fs.readdirSync(dir).forEach(function (name) {
      var isBundle = /^agent-[0-9a-f]{64}[.]cjs$/.test(name);
      var days = isBundle ? ${UNUSED_DAYS_MAX} : /^agent-.*[.]tmp$/.test(name) ? 1 : Infinity;
      var other = path.join(dir, name);
      if (other !== file && Date.now() - fs.lstatSync(other).mtimeMs > days * 864e5) fs.unlinkSync(other);
    });
  } catch (e) {}
}
var bytes = cached(), kept = bytes !== undefined;
if (kept) {
  say('have');
} else {
  say('need');
  bytes = received();
  kept = stored(bytes);
  if (kept) setTimeout(prune, 1000).unref();
  say('run');
}
me.title = 'stci-agent';
var main = { exports: {} }, names = ['require', 'module', 'exports', '__filename', '__dirname', 'stciShipped'];
require('vm').compileFunction(bytes.latin1Slice(0, bytes.indexOf('\\n//\\n') + 1 || size), names, { filename: file })(
  require, main, main.exports, file, dir, { hash: hash, bytes: bytes, path: kept ? file : undefined });
`;

/** A program for the host that does `body`, plain old JavaScript, on a node that is new enough; without indentation. */
export function hostProgram(body: string): string {
  return `(function () {${(BEGIN + body).replaceAll(/\n */g, '\n')}})();`;
}

/** The program that runs the agent. */
export const PROGRAM_TEXT = hostProgram(RUN_AGENT);
