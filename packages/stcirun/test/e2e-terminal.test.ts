/** The built stcirun at a terminal: keys that signal, stop and hold, and jobs in the background. */
// @timeoutMs 180000
// @sameFor user: keys are the kernel's; the terminal is the caller's own for each user.

import { assert, suite } from '@stci/testkit';
import { atTerminal, CTRL_C, CTRL_Q, CTRL_S, CTRL_Z, whyNoPty, type Screen } from './pty.js';

const LONG = { timeoutMs: 40_000 };
const TWO = '--launcher local --host a,b';
/** A lease short enough to wait for it to be over several times. */
const SHORT = `${TWO} --mca bootcom.lease=1500ms`;
const TICKS = "sh -c 'i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.05; done'";

function wait(ms: number): Promise<void> {
  // eslint-disable-next-line no-restricted-syntax -- time in which nothing may happen: leases, a screen that is still
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What the screen shows once nothing has come for a second. */
async function stillText(screen: Screen): Promise<string> {
  for (let turn = 0; turn < 15; turn++) {
    const text = screen.text();
    await wait(1000);
    if (screen.text() === text) return text;
  }
  throw new Error('the terminal goes on');
}

/** The number of the last tick that the screen shows. */
function ticks(screen: Screen): number {
  return Number([...screen.text().matchAll(/tick (\d+)/gu)].at(-1)?.[1] ?? 0);
}

suite('stcirun at a terminal', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(whyNoPty !== undefined, whyNoPty ?? '', name, body, LONG);

  check('Ctrl-C once: TERM to the ranks, exit code 130', async () => {
    const line = 'trap "echo term; exit 0" TERM; echo up; while :; do sleep 0.05; done';
    const screen = atTerminal(`stcirun ${TWO} sh -c '${line}'`);
    await screen.shows('up\r\n', 2);
    screen.type(CTRL_C);
    assert.is(await screen.exitCode, 130, screen.text());
    assert.is(screen.text().split('term\r\n').length, 3, screen.text());
    assert.match(screen.text(), 'interrupted: ending 2 ranks on 2 hosts; Ctrl-C again to kill');
  });

  check('Ctrl-C twice: KILL', async () => {
    const line = 'trap "" TERM; echo up; while :; do sleep 0.05; done';
    const screen = atTerminal(`stcirun ${TWO} --mca tool.grace=60s sh -c '${line}'`);
    await screen.shows('up\r\n', 2);
    screen.type(CTRL_C);
    await screen.shows('again to kill');
    screen.type(CTRL_C);
    assert.is(await screen.exitCode, 130, screen.text());
  });

  check('Ctrl-S for three leases: the agents do not take stcirun for dead; Ctrl-Q shows what waited', async () => {
    const screen = atTerminal(`stcirun ${SHORT} -n 2 ${TICKS}`);
    await screen.shows('tick 5\r');
    screen.type(CTRL_S);
    const held = await stillText(screen);
    await wait(4000);
    assert.is(screen.text(), held, 'the terminal holds');
    screen.type(CTRL_Q);
    await screen.shows(`tick ${ticks(screen) + 60}\r`);
    assert.not.match(screen.text(), 'lost');
    screen.type(CTRL_C);
    assert.is(await screen.exitCode, 130, screen.text());
  });

  check('Ctrl-S while much is written: as well, and not a line is lost', async () => {
    const screen = atTerminal(`stcirun ${SHORT} -n 2 --tag sh -c 'seq 20000; sleep 4.5; echo end'`);
    await screen.shows('[0] 900\r');
    screen.type(CTRL_S);
    await wait(5000);
    screen.type(CTRL_Q);
    assert.is(await screen.exitCode, 0, screen.text().slice(-500));
    // On a busy machine the launch has shown its live line, and has wiped it out again.
    const shown = screen.text().replaceAll(/[^\n]*\r\u001b\[K/gu, '');
    for (const rank of [0, 1]) {
      const lines = [...shown.matchAll(new RegExp(`^\\[${rank}\\] (.*)\\r$`, 'gmu'))].map((match) => match[1]);
      const wanted = [...Array.from({ length: 20_000 }, (_, index) => String(index + 1)), 'end'];
      const wrong = wanted.findIndex((line, index) => line !== lines[index]);
      assert.is(wrong, -1, `line ${wrong}: ${lines.slice(Math.max(0, wrong - 1), wrong + 2).join(' | ')}; `
        + JSON.stringify(screen.text().slice(0, 300)));
      assert.is(lines.length, wanted.length);
    }
  });

  check('colours: on a terminal, not with NO_COLOR, TERM=dumb or in a pipe; --color decides', async () => {
    const job = "stcirun -n 2 --on-failure=continue --tag%% sh -c 'echo out; [ $STCI_RANK = 0 ] || exit 3'";
    const shown = async (before: string, option = '', after = ''): Promise<string> => {
      const screen = atTerminal(`${before} ${job.replace('%%', option)}${after}`);
      await screen.exitCode;
      return screen.text();
    };
    const tag = '\u001b[36m[0] \u001b[0mout';
    const error = '\u001b[31mstcirun:\u001b[0m ';
    const colored = await shown('NO_COLOR= TERM=xterm');
    assert.match(colored, tag);
    assert.match(colored, error);
    for (const plain of [
      await shown('NO_COLOR=1 TERM=xterm'),
      await shown('NO_COLOR= TERM=dumb'),
      await shown('NO_COLOR= TERM=xterm', '', ' 2>&1 | cat'),
      await shown('NO_COLOR= TERM=xterm', ' --color=never'),
    ]) {
      assert.match(plain, '[0] out');
      assert.not.match(plain, '\u001b[3');
    }
    assert.match(await shown('NO_COLOR=1 TERM=dumb', ' --color=always', ' | cat'), tag);
  });

  check('Ctrl-Z for three leases, then fg: the job goes on', async () => {
    const screen = atTerminal(`set -m; stcirun ${SHORT} -n 2 ${TICKS}; echo stopped $?; sleep 5; fg; echo over $?`);
    await screen.shows('tick 5\r');
    screen.type(CTRL_Z);
    await screen.shows('stopped 147');
    const before = ticks(screen);
    await screen.shows(`tick ${before + 40}\r`);
    assert.not.match(screen.text(), 'lost');
    screen.type(CTRL_C);
    await screen.shows('over 130');
  });

  check('Ctrl-Z of a job that says nothing: its agents were not silent, stcirun was', async () => {
    const stops = 'for i in 1 2; do echo stopped $i; sleep 2.2; echo again $i; fg; done';
    const screen = atTerminal(`set -m; stcirun ${SHORT} -n 2 sh -c 'echo up >&2; sleep 100'; ${stops}; echo over $?`);
    await screen.shows('up\r', 2);
    for (const stop of [1, 2]) {
      await wait(300);
      screen.type(CTRL_Z);
      await screen.shows(`stopped ${stop}`);
      await screen.shows(`again ${stop}`);
    }
    await wait(300);
    screen.type(CTRL_C);
    await screen.shows('over 130');
    assert.not.match(screen.text(), 'lost');
  });

  check('Ctrl-Z where no signal is sent on: stcirun stops, the ranks run on', async () => {
    const line = `stcirun ${SHORT} -n 1 --forward-signals none --stdin none sh -c 'echo up; sleep 2.5; echo ranup >&2'`;
    const screen = atTerminal(`set -m; ${line}; echo stopped $?; sleep 4; fg; echo over $?`);
    await screen.shows('up\r');
    screen.type(CTRL_Z);
    await screen.shows('stopped 147');
    await screen.shows('over 0');
    assert.match(screen.text(), 'ranup');
  });

  check('in the background it does not read the terminal, and is not stopped for it', async () => {
    const line = 'echo up; if [ $STCI_RANK = 0 ]; then read line; echo got $line; fi';
    const job = `stcirun ${TWO} --stdin 0 -n 2 sh -c '${line}'`;
    const screen = atTerminal(`set -m; ${job} & read typed; jobs; echo mine $typed; fg; echo over $?`);
    await screen.shows('up\r', 2);
    screen.type('first\n');
    await screen.shows('mine first');
    assert.match(screen.text(), 'Running');
    assert.not.match(screen.text(), 'Stopped');
    screen.type('second\n');
    await screen.shows('got second');
    await screen.shows('over 0');
  });
});
