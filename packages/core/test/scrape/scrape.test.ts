/** Metrics of all agents, asked for at the controller: each agent's as it answers, then who did not. */

import { CONTROLLER, sessionAddress, type DetectorModule } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { AgentNode } from '../../dist/node/node.js';
import type { GatheredMetrics, SessionMetrics } from '../../dist/scrape/contracts.js';
import '../../dist/scrape/messages.js';
import { code } from '../../dist/scrape/metric-service.js';
import type { ControllerPlace, OpenService, RootPlace, ServiceScope } from '../../dist/service/contracts.js';
import { addressOf, makeNet } from '../am/net.js';

const ring = { metrics: { rounds: { type: 'counter', help: 'Rounds.' } } } as unknown as DetectorModule;
const scope = {
  detectors: () => [{ name: 'ring', module: ring, notifier: 'auto', isNamed: true }],
} as unknown as ServiceScope;

suite('metrics of a session', (test) => {
  test('each agent\'s as it answers, with what its detectors declare; then those that are silent', () => {
    const net = makeNet([0, 0]);
    const [controller, root] = net.nodes as [AgentNode, AgentNode];
    const agents = [[addressOf(1), 0], [sessionAddress(5), 7]] as const;
    const opened = code.controller?.({ node: controller, scope, session: { agents } } as unknown as ControllerPlace);
    code.root?.({ node: root, scope } as unknown as RootPlace);
    controller.metrics.count('repairs', 2);
    root.metrics.count('rounds', 3, { detector: 'ring' });
    const told: unknown[] = [];
    const gathered: GatheredMetrics = {
      onAgent: (agent, rows) => void told.push([agent, ...rows.map(([name, , , , values]) => [name, values])]),
      onDone: (silent) => void told.push(silent),
    };
    (opened as OpenService & SessionMetrics).gather(gathered);
    net.run(5000);
    assert.is(controller.identity.self, CONTROLLER);
    assert.equal(told, [
      ['controller', ['stci_tree_repairs', [2]]], ['root:0', ['stci_detector_rounds', [3]]], ['session:5 of job 7'],
    ]);
  });
});
