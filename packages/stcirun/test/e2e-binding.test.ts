/** Ranks bound to processors of this machine: what the system says of them. */
// @timeoutMs 120000

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { PROGRAM, run, sh, type Result } from './e2e.js';

/** Processors of the ranks, each as `0: 1-3`, ascending. */
const MASKS = sh('echo "$STCI_RANK: $(sed -n "s/^Cpus_allowed_list:\t//p" /proc/$$/status)"');

const allowed = /^Cpus_allowed_list:\t(.*)$/mu.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '';
const first = /^\d+/u.exec(allowed)?.[0] ?? '0';
const hasTwo = allowed !== first;
const ONE = 'this machine gives one processor';

const lines = (text: string): string[] => text.trim().split('\n').sort();
const masks = ({ out }: Result): string[] => lines(out).map((line) => line.replace(/^\d+: /u, ''));

suite('stcirun, binding', (test) => {
  test('nothing said: ranks have what their caller has', async () => {
    const { out, err } = await run(['-n', '2', '--report-bindings', ...MASKS]);
    assert.equal([lines(out), lines(err).map((line) => line.replace(/^\[.*?\]/u, ''))],
      [[`0: ${allowed}`, `1: ${allowed}`], [' rank 0 is not bound', ' rank 1 is not bound']]);
  });

  test.skipIf(!hasTwo, ONE, 'a hardware thread for each rank, and the program runs as it was named', async () => {
    const ran = await run(['-n', '2', '--bind-to', 'hwthread', '--report-bindings', ...MASKS]);
    const [one = '', two = ''] = masks(ran);
    assert.match(one, /^\d+$/u, ran.err);
    assert.match(two, /^\d+$/u);
    assert.not(one === two);
    assert.match(ran.err, /\] rank 0 bound to socket \d+\[core \d+\[hwt \d+\]\]: \[[B./]+\]/u);
    const { out } = await run(['-n', '1', '--bind-to', 'hwthread', 'sed', 's/\\x0.*//', '/proc/self/cmdline']);
    assert.is(out, 'sed');
  });

  test('what the caller is bound to is the bound of all; more ranks are refused, also by a plan', async () => {
    const within = (...args: string[]): { readonly status: number | null; readonly out: string } => {
      const command = ['-c', first, process.execPath, PROGRAM, '--bind-to', 'hwthread', ...args];
      const { status, stdout, stderr } = spawnSync('taskset', command, { encoding: 'utf8' });
      return { status, out: `${stdout}${stderr}` };
    };
    assert.is(within('-n', '1', ...MASKS).out, `0: ${first}\n`);
    for (const more of [[], ['--dry-run']]) {
      const { status, out } = within('-n', '2', ...more, ...MASKS);
      assert.is(status, 195, out);
      assert.match(out, '2 ranks cannot be bound to its 1 hardware thread. Give it at most 1 rank');
    }
    assert.match(within('--dry-run', 'true').out, /binding: each rank to 1 hardware thread.*\n    rank 0 to socket 0/u);
  });

  test.skipIf(!hasTwo, ONE, 'a host each decides for itself, and starts a rank again where it was', async () => {
    const hosts = ['--launcher', 'local', '--host', 'a,b', '--bind-to', 'hwthread', '--on-failure', 'restart:1'];
    const ran = await run([...hosts, ...sh(`${MASKS.at(-1)}; test $STCI_ATTEMPT = 2`)]);
    assert.is(ran.exitCode, 0, ran.err);
    assert.equal(masks(ran), [first, first, first, first]);
  });

  const cannot = spawnSync('unshare', ['-m', 'true']).status !== 0;
  test.skipIf(cannot, 'no mount namespaces here', 'without taskset: ranks start unless they are to be bound', () => {
    const hide = 'mount --bind /dev/null "$(command -v taskset)" && exec "$0" "$@"';
    const without = (args: string): ReturnType<typeof spawnSync> =>
      spawnSync('unshare', ['-m', 'sh', '-c', hide, process.execPath, PROGRAM, ...args.split(' ')]);
    assert.is(without('-n 1 true').status, 0);
    const { status, stderr } = without('-n 1 --bind-to core true');
    assert.match(String(stderr), 'ranks cannot be bound: there is no taskset on PATH');
    assert.is(status, 195);
  });
});
