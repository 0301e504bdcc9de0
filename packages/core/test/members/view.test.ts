/** The members as one agent knows them: which news changes what, and who is told. */

import type { MemberId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { membersOf, runsOf } from '../../dist/members/positions.js';
import { MemberView } from '../../dist/members/view.js';

const idOf = (position: number, incarnation = 1): MemberId => ({ position, incarnation });
const name = ({ position, incarnation }: MemberId): string => `${position}#${incarnation}`;

/** Of the agent at position 1 among four, and what is told of it. */
function play() {
  const view = new MemberView(idOf(1), [0, 1, 2, 3].map((position) => idOf(position)));
  const told: string[] = [];
  view.observe(({ member, state, before }) => void told.push(`${name(member)} ${before} > ${state}`));
  return { view, told };
}

suite('members', (test) => {
  test('before others are named, an agent knows itself alone', () => {
    const view = new MemberView(idOf(2));
    assert.equal([view.living().map(name), view.alive, view.size, [...view.absent]], [['2#1'], 1, 3, [0, 1]]);
    assert.equal([0, 1, 2, 7].map((position) => view.isLost(position)), [false, false, false, false]);
  });

  test('one that is reported, then gone, lives no more; each is told once', () => {
    const { view, told } = play();
    assert.equal([view.lose(idOf(3), 'reported'), view.lose(idOf(3), 'reported')], [true, false]);
    assert.equal([view.has(idOf(3)), view.isGone(idOf(3)), view.at(3), view.isLost(3)], [false, true, undefined, true]);
    assert.equal([view.living().map(name), view.alive, [...view.absent]], [['0#1', '1#1', '2#1'], 3, [3]]);
    assert.equal([view.lose(idOf(3), 'gone'), view.lose(idOf(3), 'gone')], [true, false]);
    assert.is(view.lose(idOf(3), 'reported'), false, 'it is decided');
    assert.equal(told, ['3#1 alive > reported', '3#1 reported > gone']);
  });

  test('one that is refuted lives, and that is told each time, also of one that nobody had reported', () => {
    const { view, told } = play();
    view.lose(idOf(3), 'reported');
    for (const position of [3, 3, 2]) assert.is(view.refute(idOf(position)), true);
    assert.equal(told.slice(1), ['3#1 reported > refuted', '3#1 refuted > refuted', '2#1 alive > refuted']);
    assert.equal([view.alive, view.has(idOf(3)), view.stateOf(idOf(3))], [4, true, 'refuted']);
    assert.equal([view.refute(idOf(3, 2)), view.refute(idOf(9))], [false, false], 'strangers');
  });

  test('a later incarnation replaces a former one, of which later news changes nothing', () => {
    const { view, told } = play();
    assert.equal([view.join(idOf(3, 2)), view.join(idOf(3, 2)), view.join(idOf(3))], [true, false, false]);
    assert.equal([view.lose(idOf(3), 'gone'), view.refute(idOf(3))], [false, false]);
    assert.equal([view.stateOf(idOf(3)), view.isGone(idOf(3)), view.at(3)], ['replaced', true, idOf(3, 2)]);
    assert.equal([told, view.alive, view.size], [['3#2 alive > alive'], 4, 4]);
  });

  test('of one that is not known nothing is taken for certain; one that died before it was named does not join', () => {
    const { view, told } = play();
    assert.equal([view.stateOf(idOf(3, 2)), view.isGone(idOf(3, 2)), view.isGone(idOf(999_998))],
      [undefined, false, false]);
    view.lose(idOf(999_998), 'reported');
    assert.equal([view.size, view.alive, [...view.absent]], [4, 4, []], 'there is room for four');
    view.lose(idOf(5), 'gone');
    assert.is(view.join(idOf(5)), false);
    assert.is(view.join(idOf(5, 2)), true);
    assert.equal([view.size, [...view.absent]], [6, [4]]);
    assert.equal(told.slice(1), ['5#1 undefined > gone', '5#2 gone > alive']);
  });

  test('an agent never loses itself', () => {
    const { view, told } = play();
    assert.equal([view.lose(idOf(1), 'gone'), view.has(idOf(1)), told], [false, true, []]);
  });

  test('runs of positions stand for their members', () => {
    const members = [idOf(0, 0), idOf(1), idOf(2), idOf(4), idOf(5, 2)];
    assert.equal(runsOf(members), [[0, 1, 0], [1, 2, 1], [4, 1, 1], [5, 1, 2]]);
    assert.equal(membersOf(runsOf(members)), members);
  });
});
