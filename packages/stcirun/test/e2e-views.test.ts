/** Views that draw over the terminal, on terminals of different sizes: what is seen, not what is written. */
// @timeoutMs 180000
// @sameFor user: a terminal is the caller's own for each user.

import { assert, eventually, suite } from '@stci/testkit';
import { drawn } from './drawn.js';
import { Place, withPlace } from './e2e-place.js';
import { sh } from './e2e.js';
import { atTerminal, CTRL_C, whyNoPty, type TerminalOptions } from './pty.js';

const LONG = { timeoutMs: 60_000 };
const ROWS = 12;
const LABEL = `sleep 1000 # ${'long'.repeat(30)}`;

suite('views at a terminal', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(whyNoPty !== undefined, whyNoPty ?? '', name, body, LONG);

  for (const columns of [40, 80, 200]) {
    check(`stci top, ${columns} columns: lines that fit, a job that comes and goes, the end of the session`,
      withPlace(async (place) => {
        place.start('lab');
        const top = at(place, 'stci top', { rows: ROWS, columns });
        await top.sees((lines) => lines[0] === 'lab: 2 of 2 hosts up, 0 ranks' && lines[1] === '');
        const job = place.run('lab', ['-n', '4', ...sh(LABEL)]);
        await top.sees(([first, , line]) =>
          /4 ranks$/u.test(first ?? '') && /^ {2}lab\.1 {2}running/u.test(line ?? ''));
        const [, , line = ''] = top.lines();
        assert.is(line.length, Math.min(columns - 1, line.length));
        assert.is(line.endsWith('…'), true, line);
        assert.match(place.stci('ps').out, LABEL, 'nothing is cut where it is no screen');
        const shown = at(place, 'stci ps', { rows: ROWS, columns: 200 });
        await shown.sees((lines) => /longlong…$/u.test(lines[2] ?? ''));
        assert.is(await shown.exitCode, 0);
        assert.equal(top.lines().slice(3), Array.from({ length: ROWS - 3 }, () => ''));
        assert.is(place.stci('kill', 'lab.1').exitCode, 0);
        await top.sees(([, , ended]) => /^ {2}lab\.1 {2}ended 143/u.test(ended ?? ''));
        await job.result;
        assert.is(place.stci('stop', 'lab').exitCode, 0);
        assert.is(await top.exitCode, 0);
        assert.match(top.text(), /stci: no session is left\r\n$/u);
      }));
  }

  check('stci top: more than the terminal has room for; Ctrl-C', withPlace(async (place) => {
    for (const name of ['a', 'b', 'c']) place.start(name);
    const top = at(place, 'stci top --session b; echo over $?', { rows: 4, columns: 30 });
    await top.sees(([first]) => first === 'b: 2 of 2 hosts up, 0 ranks');
    const all = at(place, 'stci top', { rows: 4, columns: 30 });
    await all.sees((lines) => lines.join('|') === 'a: 2 of 2 hosts up, 0 ranks||b: 2 of 2 hosts up, 0 ranks|');
    for (const screen of [top, all]) screen.type(CTRL_C);
    await top.sees((lines) => lines.some((line) => /over 0$/u.test(line)));
    assert.is(await all.exitCode, 0);
  }));

  check('stci top: q ends it; what is typed is not shown', withPlace(async (place) => {
    place.start('b');
    const top = at(place, 'stci top; stty -a | grep -Eo -e "-?(icanon|echo|isig)( |$)" | tr -d "\n"; echo over $?',
      { rows: 10, columns: 60 });
    await top.sees(([first]) => first === 'b: 2 of 2 hosts up, 0 ranks');
    top.type('xyq');
    await top.sees((lines) => lines.some((line) => /over 0$/u.test(line)));
    assert.is(await top.exitCode, 0);
    assert.not.match(top.text(), 'xy');
    assert.match(top.text().replaceAll(' ', ''), 'isigicanonecho');
  }));

  check('stci top: without a session, with one that is not there, at a terminal that cannot draw', async () => {
    const place = new Place();
    for (const [line, code, says] of [
      ['stci top', 195, "stci: There is no session. 'stci start' starts one.\r\n"],
      ['stci top --session lab', 195, "stci: --session: there is no session 'lab'. 'stci start' starts one.\r\n"],
      ['TERM=dumb stci top', 193, "and TERM is dumb. 'stci ps' prints once.\r\n"],
      ['stci top | cat', 0, "stci top needs a terminal as its standard output. 'stci ps' prints once.\r\n"],
    ] as const) {
      const top = at(place, line, { rows: ROWS, columns: 80 });
      assert.is(await top.exitCode, code, top.text());
      assert.ok(top.text().endsWith(says), top.text());
    }
    await place.close();
  });
});

/** A terminal of its own for a place's sessions. */
function at(place: Place, line: string, { rows = ROWS, columns = 80 }: TerminalOptions) {
  const screen = atTerminal(line, { rows, columns, env: { ...place.env, TERM: 'xterm' } });
  const lines = (): string[] => drawn(screen.text(), rows, columns);
  return {
    ...screen,
    lines,
    sees: (isSeen: (lines: readonly string[]) => boolean): Promise<unknown> =>
      eventually(() => isSeen(lines()), { deadlineMs: 15_000, what: 'the view' })
        .catch((error: unknown) => assert.unreachable(`${String(error)}:\n${lines().join('\n')}`)),
  };
}
