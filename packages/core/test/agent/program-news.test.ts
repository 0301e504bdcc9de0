/** Where ranks are, as their programs ask for it. */

import { assert, suite } from '@stci/testkit';
import { ProgramNews } from '../../dist/agent/program-news.js';

suite('places of ranks', (test) => {
  test('they are found once, until they change', () => {
    const news = new ProgramNews(3);
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
    const news = new ProgramNews(2);
    const places = [0, 1].map((at) => [at, `h${at}`, [[at, at] as const]] as const);
    news.onState({ decided: 0, lost: [], ended: [], places, attempts: [], pairs: [] });
    assert.equal(news.onLost([[1, 1, 'it was ended by SIGKILL', '']]), [[1, 1, 'it was ended by SIGKILL', 'h1']]);
  });
});
