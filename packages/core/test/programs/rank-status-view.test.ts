/** Where ranks are, which are lost or have ended, and which take part again, as their programs ask for it. */

import { assert, suite } from '@stci/testkit';
import { RankStatusView } from '../../dist/programs/rank-status-view.js';

suite('places of ranks', (test) => {
  test('they are found once, until they change', () => {
    const news = new RankStatusView(3);
    const places = [0, 1, 2].map((at) => [at, `h${at}`, [[at, at] as const]] as const);
    news.onState({ decided: 0, lost: [], ended: [], places, attempts: [], pairs: [] });
    const first = news.places();
    assert.equal(first, [['h0', [[0, 0]]], ['h1', [[1, 1]]], ['h2', [[2, 2]]]]);
    assert.is(news.places(), first);
    news.onJoined({ sequence: 1, joined: [[1, 1]], joins: [[2, 2, 'h2']] } as never);
    assert.equal(news.places(), [['h0', [[0, 0]]], ['h2', [[1, 2]]]]);
    news.onState({ decided: 2, lost: [], ended: [], places: [[1, 'b', [[1, 1]]]], attempts: [], pairs: [] });
    assert.equal(news.places(), [['h0', [[0, 0]]], ['b', [[1, 1]]], ['h2', [[2, 2]]]]);
  });

  test('a loss that comes without a host has the name of the one where the rank was', () => {
    const news = new RankStatusView(2);
    const places = [0, 1].map((at) => [at, `h${at}`, [[at, at] as const]] as const);
    news.onState({ decided: 0, lost: [], ended: [], places, attempts: [], pairs: [] });
    assert.equal(news.onLost([[1, 1, 'it was ended by SIGKILL', '']]), [[1, 1, 'it was ended by SIGKILL', 'h1']]);
  });
});

const PLACES = [[0, 'a', [[0, 1]]], [3, 'd', [[2, 3]]]] as const;
const stateOf = (more: object = {}) =>
  ({ decided: 0, lost: [], ended: [], places: PLACES, attempts: [], pairs: [], ...more }) as never;
const joinedOf = (sequence: number, joined: unknown, joins: unknown) => ({ sequence, joined, joins }) as never;

suite('news of ranks', (test) => {
  test('before the controller has said where ranks are, nothing is known of them', () => {
    const news = new RankStatusView(4);
    assert.equal([news.isKnown, news.placesCount, news.places(), news.lost, news.ended], [false, 0, [], [], []]);
    assert.equal([news.hostName(0), news.host(0), news.attempt(0)], ['', -1, 1]);
    news.onState(stateOf());
    assert.equal([news.isKnown, news.placesCount, news.host(2), news.hostName(2)], [true, 2, 3, 'd']);
    assert.equal(news.places(), [['a', [[0, 1]]], ['d', [[2, 3]]]]);
  });

  test('the places are in the order of hosts, not of ranks; those of ranks not told are none', () => {
    const news = new RankStatusView(4);
    news.onState(stateOf({ places: [[3, 'd', [[0, 1]]], [0, 'a', [[2, 2]]]] }));
    assert.equal(news.places(), [['a', [[2, 2]]], ['d', [[0, 1]]]]);
  });

  test('a loss is news once, ranges where one of theirs is; ranks beyond the last are none', () => {
    const news = new RankStatusView(4);
    news.onState(stateOf());
    assert.equal(news.onLost([[1, 1, 'r', 'a']]), [[1, 1, 'r', 'a']]);
    assert.equal(news.onLost([[1, 1, 'again', 'a']]), []);
    assert.equal(news.onLost([[1, 2, 'more', '']]), [[1, 2, 'more', 'a']]);
    assert.equal(news.onLost([[1, 2, 'more', '']]), []);
    assert.equal(news.onLost([[4, 9, 'x', 'a']]), []);
    assert.equal(news.onLost([[3, 9, 'x', 'a']]), [[3, 9, 'x', 'a']]);
    assert.equal(news.lost.map(([first, last, reason]) => [first, last, reason]),
      [[1, 1, 'more'], [2, 2, 'more'], [3, 3, 'x']]);
    assert.equal([0, 1, 4].map((rank) => news.problem(rank)?.code), [undefined, 'STCI_CLIENT_RANK_LOST', undefined]);
    assert.match(news.problem(1)?.reason ?? '', /more/);
  });

  test('ranks that have ended are told in order; a loss says more than an end', () => {
    const news = new RankStatusView(4);
    news.onState(stateOf({ ended: [[3, 3]] }));
    news.onEnded([[0, 1], [4, 5]]);
    assert.equal(news.ended, [[0, 1], [3, 3]]);
    const { code, reason } = news.problem(3) ?? {};
    assert.equal([code, news.problem(2)], ['STCI_CLIENT_RANK_ENDED', undefined]);
    assert.is(reason, 'rank 3 on host d has ended');
    news.onLost([[3, 3, 'gone', 'd']]);
    assert.is(news.problem(3)?.code, 'STCI_CLIENT_RANK_LOST');
  });

  test('a rank is alone when all others are lost or have ended, and no sooner', () => {
    for (const last of ['lost', 'ended'] as const) {
      const news = new RankStatusView(3);
      news.onEnded([[0, 0]]);
      assert.is(news.aloneProblem(1), undefined);
      if (last === 'lost') news.onLost([[2, 2, 'r', 'a']]);
      else news.onEnded([[2, 2]]);
      const code = last === 'lost' ? 'STCI_CLIENT_RANK_LOST' : 'STCI_CLIENT_RANK_ENDED';
      assert.equal(news.aloneProblem(1), { code, reason: 'no other rank is left that could send' });
      assert.is(news.aloneProblem(2), undefined, 'rank 1 is there');
      assert.is(news.aloneProblem(0), undefined);
    }
    const twice = new RankStatusView(3);
    twice.onEnded([[0, 0]]);
    twice.onLost([[0, 0, 'r', 'a']]);
    assert.is(twice.aloneProblem(1), undefined, 'one that has ended and is lost counts once');
    const own = new RankStatusView(3);
    own.onLost([[0, 1, 'r', 'a']]);
    assert.is(own.aloneProblem(1), undefined, 'rank 2 is there');
    assert.is(new RankStatusView(1).aloneProblem(0)?.code, 'STCI_CLIENT_RANK_ENDED', 'the only rank of its job');
  });

  test('a rank that takes part again is not lost, at its new place, as its new attempt', () => {
    const news = new RankStatusView(4);
    news.onState(stateOf({ lost: [[1, 2, 'r', 'x']] }));
    news.onJoined(joinedOf(5, [[1, 1]], [[3, 7, 'h']]));
    assert.equal([news.problem(1), news.attempt(1), news.host(1), news.hostName(1)], [undefined, 3, 7, 'h']);
    assert.equal([news.problem(2)?.code, news.attempt(2)], ['STCI_CLIENT_RANK_LOST', 1]);
    news.onJoined(joinedOf(6, [[2, 2]], []));
    assert.equal([news.problem(2), news.attempt(2), news.host(2), news.hostName(2)], [undefined, 1, 3, 'd']);
  });

  test('a state that was decided before a rank took part again says nothing of it; one decided then does', () => {
    const news = new RankStatusView(4);
    news.onState(stateOf());
    news.onJoined(joinedOf(5, [[1, 1]], [[3, 7, 'h']]));
    const old = { lost: [[0, 1, 'r', 'a']], attempts: [[1, 2], [0, 2]] };
    assert.equal(news.onState(stateOf({ ...old, decided: 4 })), [[0, 0, 'r', 'a']]);
    assert.equal([news.problem(1), news.attempt(1), news.host(1), news.attempt(0)], [undefined, 3, 7, 2]);
    const now = { lost: [[1, 1, 'now', '']], attempts: [[1, 4]], decided: 5 };
    assert.equal(news.onState(stateOf(now)), [[1, 1, 'now', 'a']]);
    assert.equal([news.attempt(1), news.host(1)], [4, 0]);
    assert.equal(news.onState(stateOf(now)), [], 'it is known');
  });
});
