/** Processes of a load: each ends by itself when the one that started it is gone, with nobody to end it. */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { FaultAction } from '@stci/interface';
import { assert, eventually, suite } from '@stci/testkit';
import { faultLoad } from '../dist/faults/load.js';

/** The scripts of a load on a host. */
function scripts(args: Readonly<Record<string, number>>): readonly string[] {
  const module = faultLoad.create({} as never, {}, undefined as never);
  const order = { id: 'x', kind: 'load', args, victim: { kind: 'host', host: 0 }, job: 0, timeoutMs: 1 } as const;
  const machine = module.open({ order, body: {}, random: () => 0 });
  const spawns = machine.on({ type: 'inject' }, 0) as readonly Extract<FaultAction, { readonly type: 'spawn' }>[];
  return spawns.map(({ args: [, script = ''] }) => script);
}

suite('load: an end of its own', (test) => {
  test('busy processes and memory end when the agent that started them is killed', async () => {
    for (const script of scripts({ cpu: 1, memory: 4096 })) {
      // The agent: starts the load, tells its process id, and waits to be killed.
      const agent = `const child = require('node:child_process').spawn('sh', ['-c', process.argv[1]],
        { detached: true, stdio: 'ignore' }); console.log(child.pid); setInterval(() => 0, 1000);`;
      const child = spawn(process.execPath, ['-e', agent, script], { stdio: ['ignore', 'pipe', 'inherit'] });
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await eventually(() => text.endsWith('\n'), { what: 'the process id of the load' });
      const pid = Number(text);
      try {
        assert.ok(existsSync(`/proc/${pid}`), 'it runs as long as its agent');
        child.kill('SIGKILL');
        await eventually(() => !existsSync(`/proc/${pid}`), { what: `the end of: ${script}` });
      } finally {
        try {
          process.kill(-pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
    }
  });
});
