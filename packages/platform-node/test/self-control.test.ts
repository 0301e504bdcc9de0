/** killSelf and stopSelf, of processes of their own. */

import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { assert, eventually, suite } from '@stci/testkit';
import { selfControlCompliance } from '@stci/testkit/compliance';

const PLATFORM = new URL('../dist/index.js', import.meta.url).href;

/** It writes a line each 10 ms: how far it has counted. */
const program = (action: string): string => `
const { createNodePlatform } = await import(${JSON.stringify(PLATFORM)});
const { processes } = createNodePlatform();
let count = 0;
setInterval(() => console.log(++count), 10);
setTimeout(() => ${action}, 50);
`;

selfControlCompliance('platform-node', () => {
  const ends: (() => void)[] = [];
  return {
    until: async (condition, what) => void (await eventually(condition, { what })),
    nowMs: () => performance.now(),
    end: () => ends.forEach((end) => end()),
    start: (what, forMs) => {
      const stop = `processes.stopSelf(${forMs}, (error, go) => {
        console.log('answer', error?.message ?? 'ready');
        go(true);
      })`;
      const args = ['--input-type=module', '-e', program(what === 'kill' ? 'processes.killSelf()' : stop)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      ends.push(() => child.kill('SIGKILL'));
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
      return {
        get count() { return Math.max(0, ...(text.match(/^\d+$/gmu) ?? []).slice(-1).map(Number)); },
        get answer() { return /^answer (.*)$/mu.exec(text)?.[1]; },
        get isAlive() { return child.exitCode === null && child.signalCode === null; },
      };
    },
  };
});

/** Process ids of the children of `parent`. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/u.test(pid)).map(Number).filter((pid) => {
    const stat = statOf(pid);
    return stat !== undefined && Number(stat[1]) === parent && stat[0] !== 'Z';
  });
}

/** State, parent and more of a process; undefined: there is none. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

suite('platform-node: a process that has stopped itself', (test) => {
  for (const which of ['first', 'second'] as const) {
    test(`goes on when the ${which} of those that are to continue it is killed, and none is left`, async () => {
      const action = 'processes.stopSelf(3_600_000, (_error, go) => go(true))';
      const args = ['--input-type=module', '-e', program(action)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      const pid = child.pid as number;
      try {
        await eventually(() => statOf(pid)?.[0] === 'T', { what: 'the stop' });
        const [first = 0] = childrenOf(pid);
        const [second = 0] = childrenOf(first);
        assert.ok(first > 0 && second > 0, `${first}, ${second}`);
        process.kill(which === 'first' ? first : second, 'SIGKILL');
        await eventually(() => statOf(pid)?.[0] !== 'T', { what: 'that it goes on' });
        const left = (): number[] => [first, second].filter((one) => ![undefined, 'Z'].includes(statOf(one)?.[0]));
        await eventually(() => left().length === 0, { what: 'the end of both' });
      } finally {
        child.kill('SIGKILL');
      }
    });
  }

  test('goes on in time when the first of those that are to continue it is stopped, and none is left', async () => {
    const action = 'processes.stopSelf(2000, (_error, go) => go(true))';
    const child = spawn(process.execPath, ['--input-type=module', '-e', program(action)], { stdio: 'ignore' });
    const pid = child.pid as number;
    let those: readonly number[] = [];
    try {
      await eventually(() => {
        const [first] = childrenOf(pid);
        if (first === undefined || statOf(pid)?.[0] !== 'T') return false;
        process.kill(first, 'SIGSTOP');
        those = [first, ...childrenOf(first)];
        return true;
      }, { what: 'the stop' });
      await eventually(() => statOf(pid)?.[0] !== 'T', { what: 'that it goes on' });
      process.kill(those[0] as number, 'SIGCONT');
      await eventually(() => those.every((one) => [undefined, 'Z'].includes(statOf(one)?.[0])), { what: 'both ends' });
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('goes on no sooner for signals that ask those to end that are to continue it', async () => {
    const startMs = performance.now();
    const action = 'processes.stopSelf(2000, (_error, go) => go(true))';
    const child = spawn(process.execPath, ['--input-type=module', '-e', program(action)], { stdio: 'ignore' });
    const pid = child.pid as number;
    try {
      await eventually(() => statOf(pid)?.[0] === 'T', { what: 'the stop' });
      const those = childrenOf(pid).flatMap((first) => [first, ...childrenOf(first)]);
      assert.is(those.length, 2);
      for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) {
        for (const one of those) process.kill(one, signal);
      }
      await eventually(() => statOf(pid)?.[0] !== 'T', { what: 'that it goes on' });
      assert.ok(performance.now() - startMs >= 2000, 'it was stopped for as long as it was to be');
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('goes on when its parent has ended, to notice that', async () => {
    const args = ['--input-type=module', '-e', program('processes.stopSelf(3_600_000, (_error, go) => go(true))')];
    const parent = spawn('sh', ['-c', '"$@" > /dev/null & echo $!; wait', 'sh', process.execPath, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    parent.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    try {
      await eventually(() => statOf(Number(text))?.[0] === 'T', { what: 'the stop' });
      parent.kill('SIGKILL');
      await eventually(() => statOf(Number(text))?.[0] !== 'T', { what: 'that it goes on' });
    } finally {
      parent.kill('SIGKILL');
      if (Number(text) > 0) process.kill(Number(text), 'SIGKILL');
    }
  });

  test('is ended with those that were to continue it', async () => {
    const args = ['--input-type=module', '-e', program('processes.stopSelf(3_600_000, (_error, go) => go(true))')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const pid = child.pid as number;
    try {
      await eventually(() => statOf(pid)?.[0] === 'T', { what: 'the stop' });
      const those = childrenOf(pid).flatMap((first) => [first, ...childrenOf(first)]);
      assert.is(those.length, 2);
      child.kill('SIGKILL');
      await eventually(() => those.every((one) => statOf(one) === undefined), { what: 'the end of both' });
    } finally {
      child.kill('SIGKILL');
    }
  });
});
