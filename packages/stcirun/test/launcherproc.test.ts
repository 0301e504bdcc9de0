/** Launcherproc `local` on this machine: processes and threads of the built agent, and of commands that are none. */

import { fileURLToPath } from 'node:url';
import { builtins, bootcomComponents, createRegistry, paramsSnapshot, resolveParams } from '@stci/core';
import { createLocal, launcherLocal } from '@stci/launcher-local';
import { createNodePlatform } from '@stci/platform-node';
import { topologyTree } from '@stci/topology-tree';
import { assert, eventually, launcherProcCompliance, type BadAgent } from '@stci/testkit';

const AGENT = fileURLToPath(new URL('../dist/bundle/agent.cjs', import.meta.url));
const registry = createRegistry(builtins([topologyTree, launcherLocal, ...bootcomComponents]));
const params = paramsSnapshot(registry.catalog, resolveParams(registry.catalog, {}, registry.rules).params);

const COMMANDS: Readonly<Record<BadAgent | 'good', readonly string[]>> = {
  good: [process.execPath, AGENT],
  missing: ['/no/such/agent'],
  exits: ['sh', '-c', 'exit 3'],
  silent: ['sleep', '60'],
};

launcherProcCompliance('local on this machine', {
  methods: ['process', 'thread'],
  make: (bad) => {
    const platform = createNodePlatform({ agentCommand: COMMANDS[bad ?? 'good'], agentMain: AGENT });
    const launcherProc = createLocal({ platform, inline: () => assert.unreachable('not inline') as never });
    const until = async (condition: () => boolean, what: string): Promise<void> =>
      void (await eventually(condition, { what }));
    return { launcherProc, platform, params, until };
  },
});
