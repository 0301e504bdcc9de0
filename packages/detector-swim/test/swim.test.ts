/** SWIM: compliance, and what other agents may say. */

import { MemberView } from '@stci/core/component';
import { detectorSwim } from '@stci/detector-swim';
import type { MemberId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { detectorCompliance, detectorModule, firstSuspicionMs } from '@stci/testkit/compliance';
import { Swim, type SwimSettings } from '../dist/swim.js';
import { NUMBER_MAX, readMessage } from '../dist/wire.js';

detectorCompliance(detectorSwim, [{ label: 'fast', params: { period: '100ms', grace: '0ms' }, seeds: 8 }]);

/** Of the first of these. */
function open(all: readonly MemberId[], settings: SwimSettings): Swim {
  const [self, ...others] = all as [MemberId, ...MemberId[]];
  const members = new MemberView(self, others);
  return new Swim({ self, members, topologyOf: undefined, answerMs: 0, random: () => 0.5 }, settings);
}

suite('swim', (test) => {
  test('a suspicion of any number of lives is refuted in a message that others can read', () => {
    const members = [0, 1, 2].map((position) => ({ position, incarnation: 1 }));
    const settings = { periodMs: 100, timeoutMs: 50, indirect: 1, graceMs: 0, suspicionMs: () => 400 };
    for (const lives of [1, NUMBER_MAX - 1, NUMBER_MAX, NUMBER_MAX + 1, Number.MAX_SAFE_INTEGER]) {
      const swim = open(members, settings);
      swim.on({ type: 'start' }, 0);
      const body = { type: 'ping', n: 1, rumours: [[0, 1, 1, lives, 1]] };
      swim.on({ type: 'message', from: members[1]!, body }, 1);
      const [answer] = swim.on({ type: 'message', from: members[1]!, body: { ...body, rumours: [] } }, 1);
      assert.ok(answer?.type === 'send' && readMessage(answer.body) !== undefined, `${lives} lives`);
    }
  });

  test('who suspected it first reports it; the others do if he does not, and name him', () => {
    const members = [0, 1, 2, 3].map((position) => ({ position, incarnation: 1 }));
    const settings = { periodMs: 100, timeoutMs: 50, indirect: 1, graceMs: 0, suspicionMs: () => 400 };
    const swim = open(members, settings);
    swim.on({ type: 'start' }, 0);
    const body = { type: 'ping', n: 1, rumours: [[2, 1, 1, 0, 3]] };
    const [suspect] = swim.on({ type: 'message', from: members[1]!, body }, 1);
    assert.equal(suspect, { type: 'suspect', member: members[2], evidence: 'no answer to root:2, nor to others' });
    const reportsAt = (nowMs: number): unknown[] =>
      swim.on({ type: 'due' }, nowMs).flatMap((action) => (action.type === 'report' ? [action.evidence] : []));
    assert.equal([reportsAt(450), reportsAt(451)], [[], ['no answer to root:2, nor to others']]);
    const later = Array.from({ length: 90 }, (_, i) => reportsAt(500 + 50 * i)).flat();
    assert.ok(!later.includes('no answer to root:2, nor to others'), 'once, as long as it is silent');
  });

  test('a suspect is pinged a last time a period before; a standstill of this process counts for nobody', () => {
    const members = [0, 1, 2].map((position) => ({ position, incarnation: 1 }));
    const settings = { periodMs: 1000, timeoutMs: 500, indirect: 0, graceMs: 1e6, suspicionMs: () => 3700 };
    const swim = open(members, settings);
    swim.on({ type: 'start' }, 0);
    swim.on({ type: 'message', from: members[1]!, body: { type: 'ping', n: 1, rumours: [[2, 1, 1, 0, 1]] } }, 0);
    const at = (nowMs: number): string[] => swim.on({ type: 'due' }, nowMs).flatMap((action) =>
      action.type === 'report' ? ['report'] : action.type === 'send' ? [`ping ${action.to}`] : []);
    for (const nowMs of [500, 1500, 2500]) at(nowMs);
    assert.equal(at(3200), ['ping 2']);
    swim.on({ type: 'lag', lagMs: 1000 }, 4400);
    assert.ok(!at(4400).includes('report'));
    assert.ok(at(5200).includes('report'));
  });

  test('pings for others are bounded', () => {
    const members = [0, 1, 2].map((position) => ({ position, incarnation: 1 }));
    const settings = { periodMs: 1000, timeoutMs: 500, indirect: 1, graceMs: 0, suspicionMs: () => 4000 };
    const swim = open(members, settings);
    swim.on({ type: 'start' }, 0);
    let pings = 0;
    for (let n = 0; n < 5000; n++) {
      const body = { type: 'ping-for', n, position: 2, rumours: [] };
      pings += swim.on({ type: 'message', from: members[1]!, body }, 1).length;
    }
    assert.is(pings, 4096);
  });

  test('nobody is suspected within the grace after the start, or after another joined', () => {
    const module = detectorModule(detectorSwim, { period: '100ms', grace: '1s' });
    assert.equal([firstSuspicionMs(module), firstSuspicionMs(module, 5000)], [1000, 6000]);
  });
});
