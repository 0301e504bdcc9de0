/** Directories of runs that came from somewhere, and what others could read or put in the way of a run's files. */
// @timeoutMs 300000

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync, lchownSync, mkdirSync, readFileSync, readdirSync, readlinkSync, renameSync, statSync,
  symlinkSync, unlinkSync, writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { LONG, said, withLab, type Lab } from './e2e-finject.js';

const RUN = `name: t
target: stcirun -n 1 --launcher local printf secret
`;

/** What `finject` would write of a run of this process. */
function identity(lab: Lab, pid: number, more: object = {}): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const since = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  const own = { pid, since, boot, space: readlinkSync('/proc/self/ns/pid') };
  const mark = `${pid}-${since}`;
  const entry = lab.path('sessions', '.experiments', `${mark}.json`);
  return JSON.stringify({ directory: lab.path('run'), process: own, mark, entry, ...more });
}

/** Changes the record of a type, as text. */
function spoil(lab: Lab, type: string, change: (record: Record<string, unknown>) => void): void {
  const lines = readFileSync(lab.path('run', 'history.jsonl'), 'utf8').trim().split('\n').map((line) => {
    const record = JSON.parse(line) as Record<string, unknown>;
    if (record['type'] === type) change(record);
    return `${JSON.stringify(record)}\n`;
  });
  mkdirSync(lab.path('bad'), { recursive: true });
  writeFileSync(lab.path('bad', 'history.jsonl'), lines.join(''));
}

suite('directories of runs that are not trusted', (test) => {
  test('abort signals no process that a directory only claims, and takes no mark of its own', withLab(async (lab) => {
    const other = spawn('sleep', ['600']);
    try {
      mkdirSync(lab.path('run'));
      const pid = other.pid as number;
      for (const more of [{}, { mark: '' }, { mark: '../../x' }, { process: { pid: -1 } }]) {
        lab.file('run/run.json', identity(lab, pid, more));
        chmodSync(lab.path('run', 'run.json'), 0o600);
        const abort = await lab.run('finject', 'abort', 'run');
        said(abort, 193);
        assert.match(abort.err, /not trusted/u);
      }
      chmodSync(lab.path('run', 'run.json'), 0o666);
      said(await lab.run('finject', 'abort', 'run'), 193);
      assert.equal([other.exitCode, other.signalCode], [null, null]);
    } finally {
      other.kill('SIGKILL');
    }
  }), LONG);

  test('a damaged record is not run again, and the reason is told', withLab(async (lab) => {
    lab.file('t.yaml', RUN);
    said(await lab.run('finject', 'run', 't.yaml', '--output', 'run'), 0);
    const of = (name: string, value: unknown) => (record: Record<string, unknown>) => {
      record['experiment'] = { ...record['experiment'] as object, [name]: value };
    };
    const plan = (more: object) => (record: Record<string, unknown>) => {
      record['plan'] = { ...record['plan'] as object, ...more };
    };
    for (const [type, what, change] of [
      ['run', "1 of history.jsonl has no proper 'experiment.name'", of('name', '../../evil')],
      ['run', 'experiment.target.program', of('target', { options: [], program: [] })],
      ['run', 'experiment.target', of('target', null)], ['run', 'experiment.timeLimitMs', of('timeLimitMs', '1m')],
      ['run', 'experiment.checks[0].command',
        of('checks', [{ type: 'command', name: 'x', command: 'rm', phase: 'before', timeoutMs: 1 }])],
      ['run', 'experiment.checks[0].pattern',
        of('checks', [{ type: 'output', name: 'x', pattern: '(', expect: 'some' }])],
      ['run', 'experiment.stop', of('stop', undefined)], ['run', 'experiment.hosts[0]', of('hosts', [{}])],
      ['repeat', "2 of history.jsonl has no proper 'plan.keep'", plan({ keep: null })],
      ['repeat', 'plan.repeat', plan({ repeat: -1 })],
      ['repeat', 'plan.injections[0].fault', plan({ injections: [{ id: 'x', kind: 'pkill' }] })],
    ] as const) {
      spoil(lab, type, change);
      const replay = await lab.run('finject', 'replay', 'bad', '--output', 'again');
      said(replay, 193);
      assert.match(replay.err, what);
      assert.equal(readdirSync(lab.directory).filter((name) => name === 'again'), []);
    }
  }), LONG);

  test('its files are its user\'s alone, and drafts follow no link', withLab(async (lab) => {
    lab.file('t.yaml', RUN);
    said(await lab.run('finject', 'run', 't.yaml', '--output', 'below/run'), 0);
    const modeOf = (path: string): number => statSync(lab.path(path)).mode & 0o777;
    assert.equal([modeOf('below'), modeOf('below/run')], [0o700, 0o700]);
    const names = readdirSync(lab.path('below/run'));
    assert.ok(names.length >= 6);
    for (const name of names) assert.is(modeOf(`below/run/${name}`), 0o600, name);
    // Whatever the process's number is, its draft is a link to the victim's file.
    lab.file('precious', 'as it was');
    const script = `ln -s "$PWD/precious" "both.html.$$.new"; exec "$@"`;
    const finject = process.argv[0] as string;
    const program = fileURLToPath(new URL('../bin/finject.cjs', import.meta.url));
    const report = spawnSync('sh', ['-c', script, 'sh', finject, program, 'report', 'below/run', '--output',
      'both.html'], { cwd: lab.directory, encoding: 'utf8' });
    assert.is(report.status, 0, report.stderr);
    assert.is(readFileSync(lab.path('precious'), 'utf8'), 'as it was');
    assert.match(readFileSync(lab.path('both.html'), 'utf8'), '<html');
  }), LONG);

  test('a run writes into no directory that another user has, or may write to', withLab(async (lab) => {
    lab.file('t.yaml', RUN);
    const refused = async (path: string, why: string): Promise<void> => {
      const run = await lab.run('finject', 'run', 't.yaml', '--output', path);
      said(run, 202);
      assert.match(run.err, why);
      assert.equal(readdirSync(lab.path('open')).filter((name) => name === 'run'), []);
    };
    for (const [name, mode] of [['open', 0o777], ['group', 0o770]] as const) {
      mkdirSync(lab.path(name));
      chmodSync(lab.path(name), mode);
      await refused(name, name === 'open' ? 'is world-writable' : 'is writable by its group');
    }
    await refused('open/run', `others may rename what is in ${lab.path('open')}`);
    said(await lab.run('finject', 'run', 't.yaml', '--output', 'group/run'), 0);
    if (process.getuid?.() !== 0) return;
    chmodSync(lab.path('open'), 0o1777);
    for (const name of ['empty', 'runs']) mkdirSync(lab.path('open', name), { mode: 0o755 });
    symlinkSync('runs', lab.path('open/link'));
    for (const name of ['empty', 'runs', 'link']) lchownSync(lab.path('open', name), 65_534, 65_534);
    for (const path of ['open/empty', 'open/runs/x', 'open/link/x']) await refused(path, 'belongs to user 65534');
    lchownSync(lab.path('group'), 65_534, 65_534);
    await refused('group', 'belongs to another user');
    lchownSync(lab.path('group'), 0, 0);
  }), LONG);

  test('reports are written where the record is, though its directory is exchanged meanwhile', withLab(async (lab) => {
    lab.file('t.yaml', RUN);
    // Right before the first file of a report is written.
    lab.file('exchange.cjs', `const fs = require('node:fs');
      const { rmSync } = fs;
      fs.rmSync = (path, how) => {
        if (String(path).endsWith('.new') && !fs.existsSync('shared/moved')) {
          fs.renameSync('shared/run', 'shared/moved');
          fs.symlinkSync('../precious', 'shared/run');
        }
        rmSync(path, how);
      };
      require('node:module').syncBuiltinESMExports();`);
    const program = fileURLToPath(new URL('../bin/finject.cjs', import.meta.url));
    const env = { ...process.env, STCI_MCA_session_directory: lab.path('sessions') };
    for (const command of [['run', 't.yaml', '--output', 'shared/run'], ['report', 'shared/run']]) {
      mkdirSync(lab.path('precious'), { recursive: true });
      for (const name of ['report.html', 'summary.json']) lab.file(`precious/${name}`, 'as it was');
      const words = ['--require', lab.path('exchange.cjs'), program, ...command];
      const { status, stderr } = spawnSync(process.execPath, words, { cwd: lab.directory, encoding: 'utf8', env });
      assert.is(status, 0, stderr);
      const spoilt = readdirSync(lab.path('precious')).filter((name) =>
        readFileSync(lab.path('precious', name), 'utf8') !== 'as it was');
      assert.equal(spoilt, [], command[0]);
      assert.match(readFileSync(lab.path('shared/moved/report.html'), 'utf8'), '<html');
      unlinkSync(lab.path('shared/run'));
      renameSync(lab.path('shared/moved'), lab.path('shared/run'));
      unlinkSync(lab.path('shared/run/report.html'));
    }
  }), LONG);

  test('a record that is a pipe or a device ends', withLab(async (lab) => {
    mkdirSync(lab.path('pipe'));
    execFileSync('mkfifo', [lab.path('pipe', 'history.jsonl')]);
    mkdirSync(lab.path('zero'));
    symlinkSync('/dev/zero', lab.path('zero', 'history.jsonl'));
    for (const run of ['pipe', 'zero']) {
      const report = await lab.run('finject', 'report', run);
      said(report, 193);
      assert.match(report.err, `${run}/history.jsonl cannot be read`);
    }
  }), LONG);
});
