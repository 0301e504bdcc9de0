/** Components and parameters of core itself: policies, and the parameters that the runtime reads by name. */

import { assert, suite } from '@stci/testkit';
import {
  TOPOLOGY_ARITY_MAX, bootcomFramework, builtins, createRegistry, errmgrFramework, launcherFramework,
  launcherprocFramework, topologyFramework,
} from '@stci/core';
import { selectorOf } from '../assembly.js';

const registry = createRegistry(builtins());

suite('built-in components', (test) => {
  test('launcher: tree unless flat is asked for', () => {
    const launcher = (set: Record<string, string> = {}) => {
      return selectorOf(registry, set).one(launcherFramework).create({}, undefined);
    };
    assert.equal([launcher().policy, launcher().tree([])], ['tree', { arity: 8 }]);
    assert.equal(launcher({ 'launcher.tree.arity': '3' }).tree([]), { arity: 3 });
    const flat = launcher({ launcher: 'flat' });
    assert.equal([flat.policy, flat.tree([])], ['flat', { arity: TOPOLOGY_ARITY_MAX }]);
  });

  test('modes', () => {
    const modes = [bootcomFramework, errmgrFramework, launcherFramework, launcherprocFramework, topologyFramework]
      .map(({ name, mode }) => `${name} ${mode}`);
    assert.equal(modes, ['bootcom keyed', 'errmgr one', 'launcher one', 'launcherproc keyed', 'topology keyed']);
  });

  test('every parameter that the runtime reads has its type and default', () => {
    const MIB = 1024 * 1024;
    for (const [name, value] of Object.entries({
      'launcher.root.method': 'auto', 'launcher.session.method': 'inline', 'launcher.window': 8,
      'launcher.handshake': 10_000, 'launcher.stop': 5000, 'launcher.tree.arity': 8,
      'bootcom.boot': 'native', 'bootcom.ws.interface': [], 'bootcom.ws.ports': '', 'bootcom.pending.max': 64,
      'bootcom.handshake': 5000, 'bootcom.frame.max': MIB, 'bootcom.queue.max': 64 * MIB,
      'iof.window': 16 * MIB, 'iof.line.max': MIB, 'iof.drain': 500, 'job.size.max': 1_000_000,
      'job.ranks.per.host.max': 4096, 'tool.grace': 2000, 'event.turn.max': 64, 'event.queue.max': 65_536,
      'message.ttl': 64, 'message.bytes.max': 16 * MIB, 'request.timeout': 10_000,
    })) {
      assert.equal(registry.catalog.get(name)?.spec.default, value, name);
    }
  });
});
