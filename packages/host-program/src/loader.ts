/**
 * Texts that run on a host before the agent: a shell script that finds a node and opens descriptors for which the agent
 * would have to fork, and a program for that node which finds the agent's bundle in its cache, or requests it over
 * standard input, verifies its hash and runs it.
 *
 * Any login shell reads them as single-quoted words without single quotes, exclamation marks (csh), backslashes (fish)
 * and newlines: the script is encoded for printf's %b, the program in base64. Nodes that are too old for the agent must
 * parse the program in order to report it: plain old syntax only.
 *
 * Their answers on standard output are lines `STCI NONCE WORD…`; see answers.ts.
 */

/** Oldest major version of Node that runs the agent. */
export const NODE_MAJOR_MIN = 20;

/** Bundles of other versions are removed when they were unused for this long. */
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

/** Decodes the program from the first two arguments. */
export const RUN_FIRST_ARGUMENT = 'eval(String(Buffer.from(process.argv[1],process.argv[2])))';

/**
 * Script for `sh -c`: $1 the script, $2 program, $3 its encoding, $4 nonce, $5 hash, $6 bytes of the bundle, $7 path of
 * the starting agent's node (may be empty), $8 the node that the user specified, as printf's %b reads it (empty: find
 * one), $9 how many ms the host waits for data. `hold` opens descriptors for which the agent would have to fork, and
 * calls `run` (AgentBundle.holder); programs other than the agent need none.
 */
export const shellText = (holder: string): string => `
echo "STCI $4 shell"
unset NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE NODE_COMPILE_CACHE NODE_DEBUG
stci_c=
stci_add() {
  if [ -f "$1" ] && [ -x "$1" ]; then stci_c="$stci_c\${stci_c:+:}$1"; fi
}
if [ -n "$8" ]; then
  stci_n=$(printf %b "$8")
  case "$stci_n" in
    "~/"*) stci_n="$HOME/\${stci_n#??}" ;;
    */*) ;;
    *) stci_n=$(command -v "$stci_n") ;;
  esac
  stci_add "$stci_n"
else
  IFS=:
  for stci_d in $PATH; do stci_add "$stci_d/node"; done
  unset IFS
  stci_add "$7"
  for stci_d in ${PLACES.join(' ')} ${HOME_PLACES.map((place) => `"$HOME"/${place}`).join(' ')}; do
    stci_add "$stci_d/node"
  done
fi
if [ -z "$stci_c" ]; then
  echo "STCI $4 fail node none"
  exit 1
fi
run() {
  stci_held=$1
  stci_n=$2
  shift 2
  exec "$stci_n" -e "${RUN_FIRST_ARGUMENT}" -- "$@" "$stci_held"
}
${holder === '' ? 'hold() { run \'\' "$@"; }' : holder}
hold "\${stci_c%%:*}" "$2" "$3" "$4" "$5" "$6" "$9" "$stci_c" ''
`;

/** Argument of `sh -c`, which decodes the script from its first argument with printf's %b. */
export const SHELL_TEXT = 'eval "$(printf %b "$1")"';

/**
 * Beginning of every program: finds a node that is new enough. Arguments: the program itself, its encoding, nonce,
 * hash, bytes, how long to wait, candidates for node (this one first), old nodes found so far, descriptors that the
 * shell opened.
 */
const BEGIN = `
var fs = require('fs'), path = require('path'), me = process, args = me.argv;
var nonce = args[3], hash = args[4], size = +args[5], waitMs = +args[6];
var nodes = args[7].split(':'), met = args[8], held = args[9];
function say(words) { fs.writeSync(1, 'STCI ' + nonce + ' ' + words + '\\n'); }
function note(words) { fs.writeSync(2, 'stci: ' + words + '\\n'); }
function real(file) { try { return fs.realpathSync(file); } catch (e) { return file; } }
function tryNextNode() {
  var own = real(nodes[0]);
  met += (met ? ', ' : '') + nodes[0] + ' ' + me.version;
  var rest = nodes.slice(1).filter(function (node) { return real(node) !== own; });
  while (rest.length > 0) {
    var next = ['-e', '${RUN_FIRST_ARGUMENT}', '--'].concat(args.slice(1, 7), rest.join(':'), met, '');
    var run = require('child_process').spawnSync(rest[0], next, { stdio: 'inherit' });
    if (!run.error) me.exit(run.status === null ? 1 : run.status);
    rest.shift();
  }
  say('fail node old ' + met);
  me.exit(1);
}
if (+me.version.slice(1).split('.')[0] < ${NODE_MAJOR_MIN}) tryNextNode();
`;

/**
 * Finds the agent's bundle, or requests it, and runs it. Hashing takes longer than all else here, so a file whose hash
 * was verified gets a record of its inode, size and both times. A change of the file changes its ctime, which cannot be
 * set back; then it is hashed again. Only files older than two seconds get a record, since a change in the same tick of
 * the file system's clock would not show.
 */
const RUN_AGENT = `
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
function receive(done) {
  var bytes = Buffer.allocUnsafeSlow(size), at = 0;
  var timer = setTimeout(function () {
    note('the agent did not come within ' + waitMs + ' ms');
    me.kill(me.pid, 'SIGKILL');
  }, waitMs);
  function next() {
    fs.read(0, bytes, at, size - at, null, function (e, got) {
      if (e && e.code === 'EAGAIN') return setTimeout(next, 5);
      if (e || got === 0) me.exit(1);
      at += got;
      if (at < size) return next();
      clearTimeout(timer);
      if (good(bytes)) return done(bytes);
      say('fail bundle it was changed on the way: its hash differs');
      me.exit(1);
    });
  }
  next();
}
function makeDirectory() {
  try {
    fs.mkdirSync(dir, { recursive: true, mode: 448 });
  } catch (e) {
    if (e.code === 'ENOENT') fs.accessSync(require('os').homedir(), 2);
    throw e;
  }
}
function write(name, bytes) {
  var next = name + '.' + nonce + '.tmp', fd = fs.openSync(next, 'wx', 384);
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
    makeDirectory();
    var facts = fs.lstatSync(dir);
    if (facts.isDirectory() && facts.uid === me.getuid() && !ours(facts)) fs.chmodSync(dir, 448);
    if (!facts.isDirectory() || facts.uid !== me.getuid()) throw new Error(dir + ' is not a directory of this user');
    write(file, bytes);
    return true;
  } catch (e) {
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
function run(bytes, kept) {
  me.title = 'stci-agent';
  var main = { exports: {} }, names = ['require', 'module', 'exports', '__filename', '__dirname', 'stciShipped'];
  var shipped = { hash: hash, bytes: bytes, path: kept ? file : undefined, waitMs: waitMs, held: held };
  var head = bytes.latin1Slice(0, bytes.indexOf('\\n//\\n') + 1 || size);
  require('vm').compileFunction(head, names, { filename: file })(
    require, main, main.exports, file, dir, shipped);
}
var bytes = cached();
if (bytes !== undefined) {
  say('have');
  run(bytes, true);
} else {
  say('need');
  receive(function (bytes) {
    var kept = stored(bytes);
    if (kept) setTimeout(prune, 1000).unref();
    say('run');
    run(bytes, kept);
  });
}
`;

/** A program for the host that runs `body`, plain old JavaScript without indentation, on a node that is new enough. */
export function hostProgram(body: string): string {
  return `(function () {${(BEGIN + body).replaceAll(/\n */g, '\n')}})();`;
}

/**
 * Node's arguments for a program of `hostProgram` (in base64) that `node` itself runs, as the only candidate.
 * `argument`: what the program finds as `hash`.
 */
export function hereArguments(program: string, nonce: string, node: string, argument: string): readonly string[] {
  const [bytes, waitMs, met, held] = ['0', '0', '', ''];
  return ['-e', RUN_FIRST_ARGUMENT, '--', program, 'base64', nonce, argument, bytes, waitMs, node, met, held];
}

/** The program that runs the agent. */
export const PROGRAM_TEXT = hostProgram(RUN_AGENT);
