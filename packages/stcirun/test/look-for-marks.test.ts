/** Processes that are left of a run, found by a login (a client in place of ssh) and here: by mark and by limit. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolveParams } from '@stci/core';
import type { Params } from '@stci/interface';
import { MARK_TAG, TAG_SHIFT } from '@stci/platform-node';
import { frontEndRegistry, identityOf } from '@stci/stcirun/internal';
import { assert, eventually, suite } from '@stci/testkit';
import { lookForMarks, readMarked, type MarkedProcesses, type MarkSearch } from '../dist/doctor/look-for-marks.js';

const LONG = { timeoutMs: 60_000 };
const DEADLINE_MS = 30_000;
const CLIENT = fileURLToPath(new URL('../test/fake-ssh.sh', import.meta.url));
const VALUE = `marks-${process.pid}.1`;
const NAME = 'STCI_LOOK_FOR_MARKS';
/** Experiments that run beside this file count its processes as another experiment's. */
const ELSEWHERE = `STCI_EXPERIMENT=${VALUE}`;
const ALL: MarkSearch = { mark: `${NAME}=${VALUE}`, own: undefined, waitMs: 0 };

function paramsOf(client: string): Params {
  const commandLine = [{ key: 'launcher.ssh.client', value: client, origin: 'test' }];
  return resolveParams(frontEndRegistry().catalog, { commandLine, amFiles: [], environment: {} }).params;
}

const params = paramsOf(CLIENT);
const host = (name: string) => ({ name, slots: 1, slotsBound: false, origin: 'test' });
/** Agents' ids that are not in use: the largest that Linux gives is one less. */
const GONE = 2 ** 22 - 1;
const limitOf = (agent: string | number): string => `$((${MARK_TAG} << ${TAG_SHIFT} | 0x1234 << 22 | ${agent}))`;
const limited = (agent: string | number, words: string): string =>
  `ulimit -S -w ${limitOf(agent)}; exec env -i ${ELSEWHERE} ${words}`;
const OWN = { session: 's1', settleMs: 500, ageMs: () => 600_000 };
/** As in a container of this machine. */
const IN_SPACE = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child'];
const noSpace = spawnSync(IN_SPACE[0] as string, [...IN_SPACE.slice(1), 'true']).status === 0 ? '' :
  'needs user namespaces';

suite('search for processes of a run', (test) => {
  const children: ChildProcess[] = [];
  let directory = '';
  test.before(() => void (directory = mkdtempSync(join(tmpdir(), 'stci-marks-'))));
  test.afterEach(() => {
    for (const { pid } of children.splice(0)) {
      try {
        process.kill(-(pid as number), 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  });
  test.after(() => rmSync(directory, { recursive: true }));

  /** Runs when this resolves; its id. */
  async function start(line: string, env: NodeJS.ProcessEnv): Promise<number> {
    const child = spawn('sh', ['-c', line], {
      env: { PATH: process.env['PATH'], STCI_EXPERIMENT: VALUE, ...env }, detached: true, stdio: 'ignore',
    });
    children.push(child);
    const pid = child.pid as number;
    // One that is to end soon may have.
    const hasStarted = (): boolean =>
      child.exitCode !== null || readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep');
    await eventually(hasStarted, { what: 'the process' });
    return pid;
  }

  async function look(where: string | undefined, search: Partial<MarkSearch> = {}): Promise<MarkedProcesses> {
    const spec = where === undefined ? undefined : host(where);
    const found = await lookForMarks(spec, params, { ...ALL, ...search }, DEADLINE_MS);
    if (typeof found === 'string') throw new Error(found);
    return found;
  }

  const pidsOf = ({ processes }: MarkedProcesses): number[] => processes.map(({ pid }) => pid).sort((a, b) => a - b);

  test('by the mark, here and by a login; others have other marks, or its beginning', async () => {
    assert.is((await look('a')).count, 0);
    const pid = await start('exec sleep 61', { [NAME]: VALUE });
    await start('exec sleep 62', { [NAME]: `${VALUE}2` });
    await start('exec sleep 63', { [`X${NAME}`]: VALUE });
    for (const where of [undefined, 'a']) {
      const { boot, space, count, processes } = await look(where);
      assert.equal([count, processes], [1, [{ pid, command: 'sleep 61' }]]);
      assert.equal([boot, space], [identityOf(process.pid)?.boot, identityOf(process.pid)?.space]);
    }
  }, LONG);

  test('it waits for those that end just now', async () => {
    const begunMs = performance.now();
    const value = `${VALUE}.soon`;
    await start('exec sleep 1', { [NAME]: value });
    const found = await look('a', { mark: `${NAME}=${value}`, waitMs: 20_000 });
    assert.is(found.count, 0);
    assert.ok(performance.now() - begunMs < 15_000, 'and no longer');
  }, LONG);

  test('without the mark by the limit: of an agent that is gone, begun since, and of no other run', async () => {
    const mine = await start(limited(GONE, 'sleep 64'), {});
    const ofLiving = await start(limited('$$', 'sleep 64'), {});
    const kept = `ulimit -S -w ${limitOf(GONE)}; exec sleep 65`;
    const ofSession = await start(kept, { STCI_TOOL_MARK: 's1-1-0.' });
    const others =
      [{ [NAME]: 'other-1.1' }, { STCI_TOOL_MARK: 's11-1-0.' }, { [NAME]: '', STCI_TOOL_MARK: 's1-1-0.' }];
    const ofOthers = await Promise.all(others.map((env) => start(kept, env)));
    const mark = `${NAME}=${VALUE}.none`;
    const found = pidsOf(await look('a', { mark, own: OWN }));
    assert.ok(found.includes(mine) && found.includes(ofSession), 'they are found');
    for (const pid of [ofLiving, ...ofOthers]) assert.ok(!found.includes(pid), `${pid} is not`);
    const young = await look('a', { mark, own: { ...OWN, ageMs: () => -1000 } });
    assert.ok(!pidsOf(young).includes(mine), 'it is older');
    assert.equal(pidsOf(await look('a', { mark })), [], 'limits do not count');
  }, LONG);

  test('what the guardian of another agent is about to end is not left, however late the search begins', async () => {
    const ends = await start(limited(GONE, 'sleep 0.7'), {});
    const stays = await start(limited(GONE, 'sleep 66'), {});
    const found = pidsOf(await look('a', { mark: `${NAME}=${VALUE}.none`, own: { ...OWN, settleMs: 2000 } }));
    assert.equal([found.includes(stays), found.includes(ends)], [true, false]);
  }, LONG);

  test.skipIf(noSpace !== '', noSpace, 'the id of an agent in another PID namespace means none here', async () => {
    const [file = '', ...words] = IN_SPACE;
    const cleared = ['env', '-i', ELSEWHERE, 'sh', '-c', `ulimit -S -w ${limitOf('$$')}; sleep 67`];
    const child = spawn(file, [...words, ...cleared], { detached: true, stdio: 'ignore' });
    children.push(child);
    const childrenOf = (pid: number): number[] =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    const below = (): number[] => childrenOf(child.pid as number).flatMap((agent) => [agent, ...childrenOf(agent)]);
    await eventually(() => below().length === 2, { what: 'the agent and its tool' });
    const found = pidsOf(await look('a', { mark: `${NAME}=${VALUE}.none`, own: OWN }));
    assert.equal(below().map((pid) => found.includes(pid)), [false, false]);
  }, LONG);

  test('a host that cannot be looked at has a reason', async () => {
    const why = async (name: string, deadlineMs = DEADLINE_MS, given = params): Promise<string> => {
      const found = await lookForMarks(host(name), given, ALL, deadlineMs);
      assert.type(found, 'string');
      return found as string;
    };
    assert.match(await why('dead1'), /Connection refused/u);
    assert.match(await why('slow1', 1000), /no answer within 1000 ms/u);
    assert.match(await why('-oProxyCommand=x'), 'is no host name');
    const liar = join(directory, 'liar.sh');
    writeFileSync(liar, `#!/bin/sh\n'${CLIENT}' "$@" | sed -u 's/"count":/"count":-1/'\n`);
    chmodSync(liar, 0o755);
    assert.match(await why('a', DEADLINE_MS, paramsOf(liar)), /an answer that cannot be used: .*facts\.count/u);
    writeFileSync(liar, '#!/bin/sh\nexec yes\n');
    assert.match(await why('a', DEADLINE_MS, paramsOf(liar)), /printed too much/u);
  }, LONG);

  test('answers by their shape', () => {
    const good = { boot: 'b', space: 's', count: 1, processes: [{ pid: 7, command: 'a\n\u001b[2J' }] };
    assert.equal(readMarked(JSON.stringify(good)).processes, [{ pid: 7, command: 'a \\u001b[2J' }]);
    const many = Array.from({ length: 21 }, () => ({ pid: 7, command: '' }));
    for (const bad of [
      { ...good, count: 0 }, { ...good, count: 2 ** 40 }, { ...good, count: 1.5 }, { ...good, boot: 1 },
      { ...good, processes: [{ pid: -7, command: '' }] }, { ...good, count: 30, processes: many }, null, [],
    ]) assert.throws(() => readMarked(JSON.stringify(bad)), /./u);
  });
});
