/**
 * Launcherprocs on this machine: processes and threads of the built agent, and of commands that are none. For ssh and
 * srun a script stands for the client; shell, node and program on the host are the real ones.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { paramsSnapshot, resolveParams } from '@stci/core';
import { createLocal } from '@stci/launcher-local';
import { createSlurm, slurmParams } from '@stci/launcher-slurm';
import { createSsh } from '@stci/launcher-ssh';
import { EXIT, type ProcessEnd } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import {
  SPOKEN, launcherProcCompliance, reachCompliance, startAllCompliance, type BadAgent, type Until,
} from '@stci/testkit/compliance';
import { assembleRegistry } from '../dist/assembly/registry.js';
import { createTogether } from './launcher-together.js';

const AGENT = fileURLToPath(new URL('../dist/bundle/agent.cjs', import.meta.url));
const BUNDLE = fileURLToPath(new URL('../dist/bundle/agent.bundle.cjs', import.meta.url));
const registry = assembleRegistry();
const params = paramsSnapshot(registry.catalog, resolveParams(registry.catalog, {}, registry.rules).params);

const COMMANDS: Readonly<Record<BadAgent | 'good', readonly string[]>> = {
  good: [process.execPath, AGENT],
  missing: ['/no/such/agent'],
  exits: ['sh', '-c', 'exit 3'],
  silent: ['sleep', '60'],
  speaks: ['sh', '-c', 'echo "$1" >&2; exit 103', 'sh', SPOKEN],
};

const until: Until = async (condition, what) => void (await eventually(condition, { what }));

launcherProcCompliance('local on this machine', {
  methods: ['process', 'thread'],
  make: (bad) => {
    const platform = createNodePlatform({ agentCommand: COMMANDS[bad ?? 'good'], agentMain: AGENT });
    const launcherProc = createLocal({ platform, inline: () => assert.unreachable('not inline') as never });
    return { launcherProc, platform, params, until };
  },
});

suite('the agent of this machine', (test) => {
  test('is not ended by the hangup of a login, but by the end of its channel', async () => {
    const ends: ProcessEnd[] = [];
    const { processes } = createNodePlatform({ agentCommand: COMMANDS.good });
    const { pid, channel } = processes.spawnAgent('process', COMMANDS.good, {
      onError: () => undefined,
      onDiagnostic: () => undefined,
      onExit: (end) => ends.push(end),
    });
    const status = (): string => readFileSync(`/proc/${pid}/status`, 'latin1');
    const catches = (): boolean => /^SigCgt:\s+[0-9a-f]*[13579bdf]$/m.test(status());
    await until(catches, 'its handler of SIGHUP, signal 1');
    process.kill(pid, 'SIGHUP');
    channel.close();
    await until(() => ends.length > 0, 'its end');
    assert.equal(ends, [{ status: EXIT.agentLost }]);
  });
});

const inline = (): never => assert.unreachable('not inline') as never;

reachCompliance('local on this machine', () => {
  const platform = createNodePlatform();
  return { launcherProc: createLocal({ platform, inline }), far: platform.network, host: 'localhost', until };
});

reachCompliance('ssh with a client of our own', () => {
  const client = fileURLToPath(new URL('../test/fake-ssh.sh', import.meta.url));
  const platform = createNodePlatform({ agentBundle: BUNDLE });
  const params = { client, options: [], node: process.execPath, connectMs: 2000 };
  const launcherProc = createSsh({ platform, inline }, params);
  return { launcherProc, far: platform.network, host: 'h1', unreachable: 'dead1', until };
});

startAllCompliance('together on this machine', () => {
  const platform = createNodePlatform({ agentBundle: BUNDLE });
  const pass = (ms: number): Promise<void> => new Promise((done) => void platform.clock.after(ms, done));
  const launcherProc = createTogether(platform, BUNDLE);
  return { launcherProc, platform, params, until, hosts: ['h0', 'h1'], bad: 'bad', pass, shortMs: 3000 };
});

startAllCompliance('slurm with a srun of our own', () => {
  const client = fileURLToPath(new URL('../test/fake-srun.cjs', import.meta.url));
  const cache = mkdtempSync(join(tmpdir(), 'stci-srun-'));
  const own = createNodePlatform({ agentBundle: BUNDLE });
  const variables = { ...own.env.variables, XDG_CACHE_HOME: cache };
  const platform = { ...own, env: { ...own.env, variables } };
  const pass = (ms: number): Promise<void> => new Promise((done) => void platform.clock.after(ms, done));
  const values = { client, options: '', node: process.execPath, connect: 8000, interface: [], ports: '', name: 'a' };
  const launcherProc = createSlurm({ platform, inline }, slurmParams(values));
  const end = (): void => rmSync(cache, { recursive: true, force: true });
  // Agents wait for half of their time after the silence of others counts.
  const until: Until = async (condition, what) => void (await eventually(condition, { what, deadlineMs: 20_000 }));
  return { launcherProc, platform, params, until, hosts: ['h0', 'h1'], bad: 'bad', pass, shortMs: 3000, end };
});
