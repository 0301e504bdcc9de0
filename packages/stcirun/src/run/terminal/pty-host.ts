/**
 * The rank's side of `--pty`: what is run on its host in place of the program. Node has no pseudo terminals, so
 * python3 makes one, else util-linux's `script`. The first byte of the output says which of the two it is. python3
 * takes changes of the window's size: they come in the input, where a byte 255 begins a frame of five bytes; `script`
 * does not, and its input is what was typed.
 */

import type { AppSpec } from '@stci/interface';

export type PtyKind = typeof PTY_RESIZABLE | typeof PTY_FIXED;

/** First byte of the output: NUL, DEL. Terminals show neither, such as that of `stci attach`. */
export const PTY_RESIZABLE = 0x00;
export const PTY_FIXED = 0x7f;

export interface WindowSize {
  readonly rows: number;
  readonly columns: number;
}

const FRAME = 0xff;

/**
 * The signals that stcirun passes on go to the program. What ends a job hangs its terminal up, as the end of a login
 * does, which interactive shells mind and TERM they do not. Python ignores SIGPIPE; the program must not.
 */
const PYTHON = `
import fcntl, os, pty, select, signal, struct, sys, termios, time

def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

def write(fd, data):
    while data:
        data = data[os.write(fd, data):]

rows, columns, words = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
write(1, b'\\0')
pid, screen = pty.fork()
if pid == 0:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    resize(0, rows, columns)
    try:
        os.execvp(words[0], words)
    except OSError as error:
        write(2, os.fsencode('stcirun: ' + words[0] + ': ' + error.strerror + '\\n'))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)

def on_signal(number, _frame):
    ends = number in (signal.SIGTERM, signal.SIGHUP)
    try:
        os.kill(pid, signal.SIGHUP if ends else number)
    except ProcessLookupError:
        pass

woken, waker = os.pipe()
for end in (woken, waker, screen):
    os.set_blocking(end, False)
signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, on_signal)
signal.signal(signal.SIGCHLD, lambda *_: None)
received, typed, is_open = b'', b'', True
# The program's end, not that of all who have the terminal: what it has left behind may ignore its hangup.
status, until = None, None
while until is None or time.monotonic() < until:
    if status is None:
        ended, found = os.waitpid(pid, os.WNOHANG)
        if ended == pid:
            status, until = found, time.monotonic() + 1
    sources = [screen, woken] + ([0] if is_open and not typed else [])
    readable, writable, _ = select.select(sources, [screen] if typed else [], [], None if status is None else 0.1)
    if status is not None and screen not in readable:
        break
    if woken in readable:
        os.read(woken, 4096)
    if writable:
        typed = typed[os.write(screen, typed):]
    if screen in readable:
        try:
            data = os.read(screen, 65536)
        except OSError:  # EIO: nobody has the terminal any more
            break
        write(1, data)
    if 0 in readable:
        data = os.read(0, 65536)
        is_open = data != b''
        received += data
        while received:
            head, mark, rest = received.partition(b'\\xff')
            typed += head
            if len(rest) < 4:
                received = mark + rest
                break
            received = rest[4:]
            if rest[:4] == b'\\xff\\xff\\xff\\xff':
                typed += mark
            else:
                resize(screen, *struct.unpack('>HH', rest[:4]))
if status is None:
    status = os.waitpid(pid, 0)[1]
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
`;

/** `script` runs its command with the user's shell, which may read it in another way. */
const SHELL = `
helper=$1 rows=$2 columns=$3 command=$4
shift 4
if command -v python3 > /dev/null; then exec python3 -IS -c "$helper" "$rows" "$columns" "$@"; fi
if command -v script > /dev/null; then
  printf '\\177'
  SHELL=/bin/sh exec script -q -e -c "stty rows $rows cols $columns echo; exec $command" /dev/null
fi
echo "stcirun: --pty: there is neither python3 nor util-linux's script on this host" >&2
exit 127
`;

/** The program on a terminal of this size. `shell`: the user's, as the program finds it in its environment. */
export function onPty(app: AppSpec, shell: string | undefined, { rows, columns }: WindowSize): AppSpec {
  const { program, args } = app;
  const words = ['env', ...(shell === undefined ? ['-u', 'SHELL'] : [`SHELL=${shell}`]), program, ...args];
  const command = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return {
    ...app,
    program: '/bin/sh',
    args: ['-c', SHELL, 'sh', PYTHON, String(rows), String(columns), command, program, ...args],
  };
}

/** What was typed, as python3 reads it. */
export function framedInput(chunk: Uint8Array): Uint8Array {
  if (!chunk.includes(FRAME)) return chunk;
  return Uint8Array.from([...chunk].flatMap((byte) => (byte === FRAME ? Array<number>(5).fill(FRAME) : [byte])));
}

export function sizeFrame({ rows, columns }: WindowSize): Uint8Array {
  return Uint8Array.of(FRAME, rows >> 8, rows & 0xff, columns >> 8, columns & 0xff);
}
