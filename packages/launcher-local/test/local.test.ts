/** Launcherproc `local`: which hosts it accepts, and that each method starts its kind of agent. */

import type {
  AgentMethod,
  AgentProcess,
  AgentStart,
  HostSpec,
  LauncherProcDeps,
  LauncherProcRequest,
  Verdict,
} from '@stci/interface';
import { createLocal, launcherLocal } from '@stci/launcher-local';
import { assert, suite } from '@stci/testkit';

const hosts = (...names: string[]): LauncherProcRequest => ({
  hosts: names.map((name): HostSpec => ({ name, slots: 1, slotsBound: false, origin: '--host' })),
});

const ask = (request: LauncherProcRequest, named = false, hostname = 'Box.example.org'): Verdict =>
  launcherLocal.query({ params: {}, request, named, facts: { hostname } });

suite('launcherproc local', (test) => {
  test('takes this machine under all of its names', () => {
    assert.ok(ask(hosts('localhost', '127.0.0.1', '::1', 'box', 'box.example.org', 'BOX')).accept);
    assert.ok(ask(hosts()).accept);
  });

  test('declines other hosts, naming them and the way out', () => {
    const verdict = ask(hosts('localhost', 'a', 'b', 'c', 'd', 'box.elsewhere.org'));
    assert.ok(!verdict.accept);
    assert.match(verdict.reason ?? '', /not this machine: a, b, c and 2 more .*--launcher local/);
    assert.ok(!ask(hosts(''), false, '').accept, 'an unknown host name matches nothing');
  });

  test('takes any hosts when asked for by name', () => {
    assert.ok(ask(hosts('a', 'b'), true).accept);
  });

  test('starts each method its own way', () => {
    const started: string[] = [];
    const agent = {} as AgentProcess;
    const processes = {
      agentCommand: ['node', 'agent.cjs'],
      spawnAgent: (method: string, command: readonly string[]) => {
        started.push(`${method} ${command.join(' ')}`);
        return agent;
      },
      spawn: () => assert.unreachable(),
      sweep: () => assert.unreachable(),
    } as unknown as Parameters<typeof createLocal>[0]['platform']['processes'];
    const local = createLocal({
      platform: { processes } as LauncherProcDeps['platform'],
      inline: (start) => (started.push(`inline ${start.host.name}`), agent),
    });
    const events = { onError: () => {}, onDiagnostic: () => {}, onExit: () => {} };
    for (const method of ['process', 'thread', 'inline'] as const satisfies readonly AgentMethod[]) {
      const start: AgentStart = { address: 0, host: hosts('a').hosts[0] as HostSpec, method };
      assert.is(local.start(start, events), agent);
    }
    assert.equal(started, ['process node agent.cjs', 'thread node agent.cjs', 'inline a']);
  });
});
