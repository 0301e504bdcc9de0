/**
 * Starts one agent process as its parent would, and reports when its link is up (the handshake is over at both ends)
 * and when its `agent.up` has arrived (everything is loaded, its role runs).
 */

import { spawn } from 'node:child_process';
import { agentMain, built, cleanEnvironment } from './place.mjs';

const LIMITS = { frameBytesMax: 1 << 20, queueBytesMax: 1 << 24, handshakeMs: 30_000, leaseMs: 30_000 };

export async function createAgentProbe() {
  const [{ Link }, { encodeBootRecord }, { rootAddress }, { createNodePlatform, streamChannel }] = await Promise.all([
    built('core', 'bootcom/link.js'),
    built('core', 'bootcom/boot-record.js'),
    built('interface', 'index.js'),
    built('platform-node', 'index.js'),
  ]);
  const { clock, secrets } = createNodePlatform();
  const [session, secret] = [secrets.bytes(8), secrets.bytes(32)];
  const self = rootAddress(0);
  const identity = { session, secret, self, parent: 0 };
  const record = { ...identity, job: 0, start: 1, nativeLink: true, ...LIMITS, details: await details() };
  const boot = encodeBootRecord(record);
  const admit = (peer) => (peer === self ? undefined : 'it is another agent');
  const handshake = { role: 'accept', self: 0, session, secret, secrets, admit };

  return () => new Promise((resolve, reject) => {
    const sinceMs = performance.now();
    const child = spawn(process.execPath, [agentMain], { stdio: 'pipe', detached: true, env: cleanEnvironment() });
    child.stderr.pipe(process.stderr);
    const channel = streamChannel({ kind: 'stdio', label: 'agent', readable: child.stdout, writable: child.stdin });
    channel.send([boot]);
    let linkMs;
    let upMs;
    new Link({ role: 'child', channel, clock, handshake, limits: LIMITS }, {
      onUp: () => (linkMs = performance.now() - sinceMs),
      onFrame: (link) => {
        upMs ??= performance.now() - sinceMs;
        link.close();
      },
      onDrain: () => {},
      onClosed: (_link, _reason, text) => {
        if (upMs === undefined) reject(new Error(`the agent did not come up: ${text}`));
      },
    });
    child.on('exit', () => resolve({ linkMs, upMs }));
  });
}

/** Boot details of a root agent without agents below it. */
async function details() {
  const { assembleRegistry } = await built('stcirun', 'assembly/registry.js');
  const { encodeBootDetails, encodeParams, paramsSnapshot, resolveParams } = await built('core', 'index.js');
  const registry = assembleRegistry();
  const resolved = resolveParams(registry.catalog, { commandLine: [] }, registry.rules);
  const params = encodeParams(paramsSnapshot(registry.catalog, resolved.params));
  const subtree = [[0, 'here', '', 1]];
  const tree = { arity: 2 };
  return encodeBootDetails({ host: 0, hosts: 1, tree, subtree, outlivesParent: false, connect: [], params });
}
