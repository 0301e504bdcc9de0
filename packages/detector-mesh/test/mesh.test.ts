/** The mesh: compliance along several topologies, and a session that grows. */

import { MemberView } from '@stci/core/component';
import { detectorMesh } from '@stci/detector-mesh';
import type { MemberId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { detectorCompliance, detectorModule, firstSuspicionMs } from '@stci/testkit/compliance';
import { createMesh, nearCubic } from '@stci/topology-mesh';

detectorCompliance(detectorMesh, [
  {
    label: 'near-cubic', params: { period: '100ms', timeout: '500ms', grace: '0ms' }, seeds: 8,
    topology: (size) => createMesh(nearCubic(size), false),
  },
  {
    label: 'ring', params: { period: '100ms', timeout: '200ms', grace: '600ms' }, graceMs: 600, seeds: 8,
    topology: (size) => createMesh([size], true),
  },
]);

suite('mesh detector', (test) => {
  test('in a session that grows, the neighbours are those of the topology over all positions', () => {
    const member = (position: number) => ({ position, incarnation: 1 });
    const members = new MemberView(member(0), [member(1), member(2)]);
    const detector = detectorModule(detectorMesh, { period: '100ms', grace: '0ms' }).open({
      self: member(0), members, topologyOf: (size) => createMesh([size], true),
      answerMs: 0, random: () => 0,
    });
    const pinged = (nowMs: number): number[] =>
      detector.on({ type: 'due' }, nowMs).flatMap((action) => (action.type === 'send' ? [action.to] : [])).sort();
    detector.on({ type: 'start' }, 0);
    assert.equal(pinged(100), [1, 2]);
    for (const position of [3, 4, 5]) {
      members.join(member(position));
      detector.on({ type: 'joined', member: member(position) }, 110);
    }
    assert.equal(pinged(310), [1, 5]);
  });

  test('who starts, or joins, may take the grace longer for its first answer', () => {
    const module = detectorModule(detectorMesh, { period: '100ms', timeout: '300ms', grace: '1s' });
    const line = (size: number) => createMesh([size], false);
    assert.equal([firstSuspicionMs(module, undefined, line), firstSuspicionMs(module, 5000, line)], [1300, 6300]);
  });

  test('the time that this process stood still does not count against a suspect', () => {
    const [self, other] = [0, 1].map((position) => ({ position, incarnation: 1 })) as [MemberId, MemberId];
    const detector = detectorModule(detectorMesh, { period: '100ms', timeout: '300ms', grace: '0ms' }).open({
      self, members: new MemberView(self, [other]), topologyOf: (size) => createMesh([size], false), answerMs: 0,
      random: () => 0,
    });
    const found = (nowMs: number): string[] => detector.on({ type: 'due' }, nowMs)
      .flatMap(({ type }) => (type === 'suspect' || type === 'report' ? [type] : []));
    detector.on({ type: 'start' }, 0);
    assert.equal(found(300), ['suspect']);
    detector.on({ type: 'lag', lagMs: 1000 }, 1350);
    assert.equal([found(1350), found(1400)], [[], ['report']]);
  });
});
