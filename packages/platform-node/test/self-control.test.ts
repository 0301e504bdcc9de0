/** killSelf and stopSelf, of processes of their own. */

import { spawn } from 'node:child_process';
import { eventually } from '@stci/testkit';
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
