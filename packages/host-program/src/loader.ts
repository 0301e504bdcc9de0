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
 * A function that makes a directory, with those above it, for this user alone. Node's own recursive form never returns
 * where a directory cannot be made although the one above it is there, as below /proc.
 */
export const MAKE_DIRECTORY = `
function makeDirectory(at) {
  function make() {
    try { fs.mkdirSync(at, 448); } catch (e) { if (e.code !== 'EEXIST') throw e; }
  }
  try { make(); } catch (e) {
    if (e.code !== 'ENOENT' || path.dirname(at) === at) throw e;
    makeDirectory(path.dirname(at));
    make();
  }
}
`;

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
