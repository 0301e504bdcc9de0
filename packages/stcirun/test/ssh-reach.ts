/**
 * Run on the login side of test hosts h1 and h2 (silent) by ssh-reach.test.ts: reaching an agent over real ssh, and
 * what is known when a started one is gone. The hosts share the directory of private sockets with the login side.
 */

import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { paramsSnapshot, resolveParams } from '@stci/core';
import { createSsh } from '@stci/launcher-ssh';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { Recorder, StartedAgent, reachCompliance, type Until } from '@stci/testkit/compliance';
import { assembleRegistry } from '../dist/assembly/registry.js';

const agentBundle = fileURLToPath(new URL('../dist/bundle/agent.bundle.cjs', import.meta.url));
const registry = assembleRegistry();
const params = paramsSnapshot(registry.catalog, resolveParams(registry.catalog, {}, registry.rules).params);
const platform = createNodePlatform({ agentBundle });
const inline = (): never => assert.unreachable('not inline') as never;
const ssh = { client: 'ssh', options: [], node: process.execPath, connectMs: 2000 };
const launcherProc = createSsh({ platform, inline }, ssh);
const until: Until = async (condition, what) => void (await eventually(condition, { what, deadlineMs: 20_000 }));

reachCompliance('ssh on test hosts', () => ({
  launcherProc, far: platform.network, host: 'h1', unreachable: 'h2', until,
}));

const SURVIVOR = fileURLToPath(new URL('../../platform-node/dist-test/fixtures/survivor.js', import.meta.url));

suite('ssh on test hosts: an agent that goes on', (test) => {
  test('the client is killed: its login ends, it keeps its tools, and is reached again', async () => {
    const client = spawn('ssh', ['-T', 'h1', `exec '${process.execPath}' '${SURVIVOR}'`], { stdio: 'pipe' });
    let told = '';
    client.stdout.setEncoding('utf8').on('data', (text: string) => (told += text));
    await until(() => told.endsWith('\n'), 'the agent');
    const { path } = JSON.parse(told) as { path: string };
    client.kill('SIGKILL');
    const agent = { host: { name: 'h1', slots: 1, slotsBound: false, origin: 'test' }, path };
    const problems: string[] = [];
    const { channel } = launcherProc.reach(agent, {
      onError: ({ message }) => void problems.push(message),
      onDiagnostic: (line) => void problems.push(line),
      onExit: () => undefined,
    });
    const heard = new Recorder(channel);
    let facts: { readonly isAlone?: boolean; readonly tools?: number; readonly fds?: readonly string[] } = {};
    await eventually(async () => {
      const from = heard.text.length;
      channel.send([Uint8Array.of(1)]);
      await until(() => heard.text.slice(from).endsWith('\n'), `its answer, ${problems.join()}`);
      facts = JSON.parse(heard.text.slice(from)) as typeof facts;
      return facts.isAlone;
    }, { what: 'that it knows', deadlineMs: 10_000 });
    assert.equal([facts.tools, facts.fds], [1, ['/dev/null', '/dev/null', '/dev/null']]);
    channel.send([Uint8Array.of(113)]);
    await until(() => heard.closed, 'its end');
  }, { timeoutMs: 30_000 });
});

/** Kills, on h1, the process of that name, or the one that it is the child of. */
function killThere(name: string, whom: 'itself' | 'parent'): Promise<void> {
  const script = `for p in /proc/[0-9]*; do
    if read -r n 2>/dev/null <$p/comm && [ "$n" = ${name} ]; then
      if [ ${whom} = itself ]; then kill -9 "\${p#/proc/}"; else
        while read -r k v; do if [ "$k" = PPid: ]; then kill -9 "$v"; fi; done <$p/status
      fi
    fi
  done`;
  return new Promise((resolve, reject) =>
    execFile('ssh', ['h1', script], (error) => (error === null ? resolve() : reject(error))));
}

async function evidence(fault: (started: StartedAgent) => unknown): Promise<string | undefined> {
  const started = new StartedAgent({ launcherProc, platform, params, until, host: 'h1' }, 'process');
  await until(() => started.reported.length > 0, 'the link');
  await fault(started);
  await until(() => started.over && started.link?.state === 'closed', 'its end');
  return started.evidence;
}

suite('ssh on test hosts: evidence', (test) => {
  const check = (name: string, expected: string, fault: (started: StartedAgent) => unknown): void =>
    test(name, async () => assert.is(await evidence(fault), expected), { timeoutMs: 30_000 });
  check('the agent is killed', 'process', () => killThere('stci-agent', 'itself'));
  check('it ends by itself', 'process', ({ link }) => link?.close());
  check('its login is killed on the host', 'connection', () => killThere('stci-agent', 'parent'));
  check('the client is killed', 'connection', ({ agent }) => process.kill(agent.pid, 'SIGKILL'));
});
