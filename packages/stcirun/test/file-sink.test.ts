/** Output to files by a template: when a file is closed. */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseTemplate } from '@stci/core/iof';
import { assert, eventually, suite } from '@stci/testkit';
import { FileSink } from '../dist/output/file-sink.js';

const opened = (pid: number | string, name: string): boolean =>
  existsSync(`/proc/${pid}/fd`) && readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === name;
    } catch {
      return false; // Closed meanwhile.
    }
  });

suite('output to files by a template', (test) => {
  test('a rank that is started again elsewhere goes on in the file of its new host', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-sink-'));
    let host = 'a';
    const faults: string[] = [];
    const sink = new FileSink({
      template: parseTemplate(join(directory, '%h-%r.%s')), job: 1, prefix: undefined,
      facts: {
        hostOf: (rank) => (rank === 0 ? host : 'b'), appOf: () => 0, rankOf: (rank) => rank, size: 2,
        lineBytesMax: 1000,
      },
      onFault: ({ message }) => faults.push(message),
    });
    const write = (rank: number, text: string): Promise<void> =>
      new Promise((resolve) => sink.push(rank, 'stdout', Buffer.from(text), 0, resolve));
    sink.started(0, 100);
    sink.started(1, 101);
    await Promise.all([write(0, 'first, unfinished'), write(1, 'other\n')]);
    host = 'c';
    sink.started(0, 200);
    await write(0, 'second\n');
    for (const rank of [0, 1]) for (const stream of ['stdout', 'stderr'] as const) sink.end(rank, stream);
    await new Promise<void>((resolve) => sink.finish(resolve));
    const texts = ['a-0.stdout', 'c-0.stdout', 'b-1.stdout'].map((name) => readFileSync(join(directory, name), 'utf8'));
    assert.equal([texts, faults], [['first, unfinished', 'second\n', 'other\n'], []]);
    rmSync(directory, { recursive: true });
  });
});

suite('output to a named pipe', (test) => {
  test('its reader sees one end, that of the last rank, also if the first is over before the next starts', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-sink-'));
    const pipe = join(directory, 'p');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('sh', ['-c', `exec 3<>'${pipe}' 4<'${pipe}' 3>&-; read go; exec cat <&4`]);
    let text = '';
    reader.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const end = new Promise((resolve) => reader.on('close', resolve));
    await eventually(() => opened(reader.pid as number, pipe), { what: 'a reader' });
    const faults: string[] = [];
    const sink = new FileSink({
      template: parseTemplate(pipe), job: 1, prefix: undefined,
      facts: { hostOf: () => 'a', appOf: () => 0, rankOf: (rank) => rank, size: 2, lineBytesMax: 1000 },
      onFault: ({ message }) => faults.push(message),
    });
    const rank = async (index: number): Promise<void> => {
      sink.started(index, 100 + index);
      await new Promise<void>((resolve) => sink.push(index, 'stdout', Buffer.from(`rank ${index}\n`), 0, resolve));
      sink.end(index, 'stdout');
      sink.end(index, 'stderr');
    };
    await rank(0);
    reader.stdin.end('go\n');
    await eventually(() => text === 'rank 0\n', { what: 'the first output' });
    // What would close it has had its turns.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    assert.is(opened(process.pid, pipe), true, 'open for those that are to come');
    await rank(1);
    await end;
    await new Promise<void>((resolve) => sink.finish(resolve));
    assert.equal([text, faults], ['rank 0\nrank 1\n', []]);
    rmSync(directory, { recursive: true });
  });
});
