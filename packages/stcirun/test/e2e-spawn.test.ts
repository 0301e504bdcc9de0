/** Programs that have further ranks started while their job runs, by a plugin's service: in a run, in a session. */
// @timeoutMs 120000
// @sameFor user: what a spawn does is the controller's.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { withPlace } from './e2e-place.js';
import { run, sh, type Result } from './e2e.js';
import { writePackage } from './plugin-package.js';

/** A line `COUNT PROGRAM ARGUMENT…` at a rank's socket has them started; the answer is the first rank, or why not. */
const GROW = `import { accept, defineComponent, serviceFramework } from '@stci/core/component';
const atHost = (part) => {
  const channels = new Map();
  return {
    onStart: (rank) => ({ socket: (channel) => {
      let text = '';
      channels.set(rank, channel);
      channel.bind({ onDrain() {}, onClose() {}, onData: (chunk) => {
        const lines = (text += new TextDecoder().decode(chunk)).split('\\n');
        text = lines.pop();
        for (const line of lines) part.send([rank, line]);
      } });
    } }),
    onMessage: ([rank, answer]) => channels.get(rank)?.send([new TextEncoder().encode(answer + '\\n')]),
  };
};
const atController = (part) => ({
  onMessage: (host, [parent, line]) => {
    const [count, program, ...args] = line.split(' ');
    part.spawn({ parent, apps: [{ program, args, env: { OWN: 'x' }, count: Number(count) }] },
      (spawn, problem) => part.send(host, [parent, String(spawn?.first ?? problem)]));
  },
});
export const component = defineComponent({ framework: serviceFramework, name: 'grow', version: '1.0.0',
  frameworkVersion: 1, help: 'x', params: {}, query: ({ named }) => accept(named ? 1 : 0),
  create: () => ({ atHost, atController }) });`;

interface Row {
  readonly rank: number;
  readonly app: number;
  readonly status?: number;
}

/** Rank 0 asks, and writes the answer; the others wait for nothing. */
const ask = (line: string, then = ''): readonly string[] =>
  sh(`test $STCI_RANK = 0 || exit 0; echo "${line}" >&3; read -r answer <&3; echo "answer $answer"; ${then}`);

suite('jobs that grow', (test) => {
  let place = '';
  const plugin = (): string[] => ['--plugin', join(place, 'grow'), '--mca', 'service=grow'];
  test.before(() => {
    place = mkdtempSync(join(tmpdir(), 'stci-grow-'));
    writePackage(join(place, 'grow'), {
      components: [{ framework: 'service', name: 'grow', module: './index.js', help: 'x', params: {} }],
      files: { 'index.js': GROW },
    });
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const go = (...args: string[]): Promise<Result> =>
    run(['--launcher', 'local', ...plugin(), ...args], { env: { XDG_CACHE_HOME: join(place, 'cache') } });

  test('they run on the slots that are left, have labels, files, events and rows of the report', async () => {
    const [worker, report, done] = [join(place, 'worker.sh'), join(place, 'report.json'), join(place, 'done')];
    const text = `#!/bin/sh
echo "$OWN $STCI_RANK of $STCI_SIZE on $STCI_HOST, program $STCI_APP"
until test -e ${done}; do sleep 0.05; done
exit 3
`;
    writeFileSync(worker, text, { mode: 0o755 });
    const { exitCode, out, err } = await go('--host', 'a:2,b:2', '-n', '1', '--tag=rank', '--verbose',
      '--on-failure', 'continue', `--exit-report=json:${report}`, '--output', join(place, 'out/%r.%s'), '--tee',
      ...ask(`3 ${worker}`, `echo "1 true" >&3; read -r answer <&3; touch ${done}; echo "$answer"`));
    assert.is(exitCode, 3, err);
    const lines = out.split('\n').filter(Boolean).sort();
    assert.match(lines[0] ?? '', /^\[0\] 1 rank more need more slots than are left: 0 on 2 hosts\./u);
    const told = ['[0] answer 1', '[1] x 1 of 4 on a, program 1', '[2] x 2 of 4 on b, program 1',
      '[3] x 3 of 4 on b, program 1'];
    assert.equal(lines.slice(1), told);
    assert.match(err, / s: rank 0 spawns ranks 1-3\n/u);
    const { ranks } = JSON.parse(readFileSync(report, 'utf8')) as { ranks: Row[] };
    const rows = ranks.map(({ rank, app, status }) => [rank, app, status]);
    assert.equal(rows, [[0, 0, 0], [1, 1, 3], [2, 1, 3], [3, 1, 3]]);
    assert.is(readFileSync(join(place, 'out/2.stdout'), 'utf8'), `${told[2]}\n`);
  }, { timeoutMs: 30_000 });

  test('in a session: stci ps has them, and who attaches later; its end reaches all', withPlace(async (at) => {
    at.start('lab', ...plugin());
    const first = at.run('lab', ['-n', '1', ...ask('2 sleep 1000', 'sleep 1000')]);
    await eventually(() => at.session().jobs[0]?.running === 3, { what: 'all ranks' });
    assert.is(at.session().jobs[0]?.ranks, 3);
    const rows = at.stci('ps', 'lab.1').out.split('\n').map((line) => line.trim().split(/\s+/u));
    const own = rows.filter(([rank = '']) => /^\d+$/u.test(rank));
    const shown = own.map(([rank, host, , state]) => `${rank} ${host} ${state}`);
    assert.equal(shown, ['0 a running', '1 a running', '2 b running']);
    const late = at.attach('lab.1', '--all');
    assert.is(at.stci('kill', 'lab.1').exitCode, 0);
    const [result, seen] = [await first.result, await late.result];
    assert.equal([result.exitCode, seen.exitCode, seen.out], [143, 143, 'answer 1\n'], seen.err);
  }), { timeoutMs: 60_000 });
});
