/** `--pty`: the rank on a terminal of its own, which the user's carries; his is put back whatever ends the run. */
// @timeoutMs 180000
// @sameFor user: terminals are the caller's own for each user.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { framedInput, sizeFrame } from '@stci/stcirun/internal';
import { assert, suite } from '@stci/testkit';
import { run } from './e2e.js';
import { atTerminal, CTRL_C, CTRL_Z, whyNoPty, type Screen } from './pty.js';

const LONG = { timeoutMs: 60_000 };
const SIZE = { rows: 30, columns: 100 };
const ON_TWO = '--launcher local --host a,b';
/** Says whether the terminal is as it was, and how the run ended. */
const AND_MODES = 'code=$?; stty -a | grep -Eo -e "-?(icanon|echo|opost|isig)( |$)" | tr -d "\\n"; echo code $code';
const AS_IT_WAS = /isig icanon echo |opost isig icanon echo code (\d+)\r\n/u;

function restored(screen: Screen): string | undefined {
  return AS_IT_WAS.exec(screen.text())?.[1];
}

/** A directory of only these programs. */
function pathOf(...programs: readonly string[]): string {
  const path = mkdtempSync(join(tmpdir(), 'stci-pty-'));
  for (const name of programs) {
    symlinkSync(spawnSync('sh', ['-c', `command -v ${name}`]).stdout.toString().trim(), join(path, name));
  }
  return path;
}

suite('--pty', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(whyNoPty !== undefined, whyNoPty ?? '', name, body, LONG);

  check('a shell: keys, Ctrl-C and Ctrl-Z are for it, and its status is the exit code', async () => {
    const screen = atTerminal(`stcirun ${ON_TWO} --pty bash --norc --noprofile; ${AND_MODES}`, SIZE);
    await screen.shows('# ').catch(() => screen.shows('$ '));
    // Each says when it has the terminal: a key that comes before that is the shell's, which may ignore it.
    screen.type("stty size; sh -c 'echo $((1000+1)); exec sleep 1000'\r");
    await screen.shows('30 100\r\n1001\r\n');
    screen.type(CTRL_C);
    await screen.shows('^C');
    // No shell: a child that is stopped before its exec would hold it (vfork), and nobody would be told.
    screen.type('python3 -c "import signal as s; s.signal(2, s.SIG_DFL); '
      + 's.signal(s.SIGCONT, lambda *_: print(3000+1, flush=True)); print(2000+1, flush=True); '
      + '[s.pause() for _ in iter(int, 1)]"\r');
    await screen.shows('2001\r\n');
    screen.type(CTRL_Z);
    await screen.shows('Stopped');
    screen.type('fg\r');
    await screen.shows('3001\r\n');
    screen.type(CTRL_C);
    await screen.shows('^C', 2);
    screen.type('exit 3\r');
    assert.is(await screen.exitCode, 0, screen.text());
    assert.is(restored(screen), '3', screen.text());
  });

  check('ends with its program, whatever that has left at the terminal', async () => {
    const screen = atTerminal(`stcirun --pty sh -c 'trap "" HUP; sleep 1000 & echo up; exit 4'; ${AND_MODES}`, SIZE);
    assert.is(await screen.exitCode, 0, screen.text());
    assert.is(restored(screen), '4', screen.text());
  });

  check('the size of the window, and its changes; every byte', async () => {
    // stty changes rows and columns one after the other, and each is a change of the window.
    const line = 'trap "stty size | grep 41.91 && exit 0" WINCH; stty -F $OUTER rows 41 cols 91; '
      + 'while :; do sleep 0.05; done';
    const resized = atTerminal(`OUTER=$(tty) stcirun --pty sh -c '${line}'`, SIZE);
    assert.is(await resized.exitCode, 0, resized.text());
    assert.match(resized.text(), '41 91\r\n');
    const bytes = atTerminal('stcirun --pty sh -c "stty raw -echo; echo up; dd bs=1 count=5 2>&- | od -An -tx1"', SIZE);
    await bytes.shows('up');
    bytes.type('\x03\x11ÿ\r');
    assert.is(await bytes.exitCode, 0, bytes.text());
    assert.match(bytes.text(), '03 11 c3 bf 0d');
    assert.equal([...framedInput(Uint8Array.of(1, 255, 2))], [1, 255, 255, 255, 255, 255, 2]);
    assert.equal([...sizeFrame({ rows: 258, columns: 3 })], [255, 1, 2, 0, 3]);
  });

  for (const [signal, times, code] of [['TERM', 1, '143'], ['HUP', 1, '129'], ['INT', 3, '130']] as const) {
    check(`ended by SIG${signal}, ${times} times: the terminal is put back`, async () => {
      const kills = `for i in $(seq ${times}); do kill -${signal} $STCIRUN; sleep 0.2; done`;
      const line = `trap "" TERM; echo up; ${kills}; sleep 1000`;
      const inner = 'STCIRUN=$$; export STCIRUN; exec stcirun --pty sh -c "$0"';
      const screen = atTerminal(`sh -c '${inner}' '${line}'; ${AND_MODES}`);
      assert.is(await screen.exitCode, 0, screen.text());
      assert.is(restored(screen), code, screen.text());
    });
  }

  check('stopped by SIGTSTP the terminal is the shell\'s, and the program\'s again when it is continued', async () => {
    const line = 'echo up; read word; echo got $word; kill -TSTP $STCIRUN; read word; echo got $word';
    const inner = `STCIRUN=$$; export STCIRUN; exec stcirun --pty sh -c "$0"`;
    const modes = 'stty -a | grep -Eo -e "-?icanon"; echo press; read x; fg; echo over';
    const screen = atTerminal(`set -m; sh -c '${inner}' '${line}'; ${modes}`);
    await screen.shows('up');
    screen.type('one\r');
    await screen.shows('press\r\n');
    assert.match(screen.text(), /got one[^]*\r\nicanon\r\n/u);
    screen.type('\r');
    await screen.shows('kill -TSTP', 2);
    screen.type('two\r');
    await screen.shows('got two');
    assert.is(await screen.exitCode, 0, screen.text());
  });

  check('where python3 is not there, by script; where neither is, the reason', async () => {
    const bare = pathOf('script', 'stty', 'env', 'sh');
    const empty = pathOf();
    try {
      const line = String.raw`tty; stty size; echo "$1 $SHELL"; exit 9`;
      const screen = atTerminal(`SHELL=/bin/own stcirun --pty -x PATH=${bare} /bin/sh -c '${line}' x "it's"`,
        { ...SIZE, env: { PATH: process.env['PATH'] ?? '' } });
      assert.is(await screen.exitCode, 9, screen.text());
      assert.match(screen.text(), "30 100\r\nit's /bin/own\r\n");
      const none = atTerminal(`stcirun --pty -x PATH=${empty} /bin/sh -c true; ${AND_MODES}`);
      await none.exitCode;
      assert.match(none.text(), "--pty: there is neither python3 nor util-linux's script on this host");
      assert.is(restored(none), '127', none.text());
    } finally {
      for (const path of [bare, empty]) rmSync(path, { recursive: true });
    }
  });

  check('a program that is not there; ranks, a pipe and options that --pty is not for', async () => {
    const missing = atTerminal('stcirun --pty stci-is-not-there', SIZE);
    // A directory of PATH that may not be read is told first.
    assert.ok([126, 127].includes((await missing.exitCode) ?? 0), missing.text());
    assert.match(missing.text(), /stcirun: stci-is-not-there: (?:No such file or directory|Permission denied)/u);
    for (const [options, says] of [
      ['-n 2 --pty', '--pty is for one rank, and the job has 2. Write -n 1.'],
      ['--pty --tag', '--pty and --tag cannot be combined: the program has the terminal.'],
      ['--pty --each', '--pty and --each cannot be combined: the terminal is for one rank.'],
      ['--pty --stdin none', '--pty and --stdin cannot be combined: the one rank reads the terminal.'],
    ] as const) {
      const refused = atTerminal(`stcirun ${options} true`);
      assert.is(await refused.exitCode, 193, refused.text());
      assert.match(refused.text(), says);
    }
    const piped = await run(['--pty', 'true']);
    assert.is(piped.exitCode, 193);
    assert.match(piped.err, '--pty: standard input is not a terminal.');
  });
});
