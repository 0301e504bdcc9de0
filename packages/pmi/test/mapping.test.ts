/** Texts of PMI-1's well-known keys. */

import { formatDeadProcesses, formatProcessMapping, parseDeadProcesses, parseProcessMapping } from '@stci/pmi';
import { assert, seededIntegers, suite } from '@stci/testkit';

suite('process mapping', (test) => {
  test('one host, blocks, round robin', () => {
    assert.is(formatProcessMapping([0, 0, 0, 0]), '(vector,(0,1,4))');
    assert.is(formatProcessMapping([0, 0, 1, 1]), '(vector,(0,2,2))');
    assert.is(formatProcessMapping([0, 1, 0, 1]), '(vector,(0,2,1),(0,2,1))');
    assert.is(formatProcessMapping([0, 0, 1]), '(vector,(0,1,2),(1,1,1))');
    assert.equal(parseProcessMapping('(vector,(0,1,1),(1,1,1),(0,1,1),(1,1,1))'), [0, 1, 0, 1]);
    assert.equal(parseProcessMapping('(vector,(0,1,2),(1,1,2))'), [0, 0, 1, 1]);
  });

  test('any placement is what it was, or does not fit into a line', () => {
    let long = 0;
    for (let seed = 0; seed < 500; seed++) {
      const next = seededIntegers(seed);
      const hosts = 1 + next(8);
      const nodeOfRank = Array.from({ length: next(300) }, (_, rank) => (seed % 2 === 0 ? next(hosts) : rank % hosts));
      const text = formatProcessMapping(nodeOfRank);
      if (text === undefined) long += 1;
      else assert.equal(parseProcessMapping(text), nodeOfRank, `seed ${seed}`);
    }
    assert.ok(long > 0 && long < 300, `${long} did not fit`);
  });

  test('a text that is none, or of too many ranks, is none', () => {
    for (const text of ['', '(vector', '(vector,(0,1))', '(vector,(0,1,-4))', '(vector,(0,9999999,9999999))']) {
      assert.is(parseProcessMapping(text), undefined, text);
    }
  });
});

suite('dead processes', (test) => {
  test('a list, which may have ranges where it is read', () => {
    assert.is(formatDeadProcesses([3, 1]), '3,1');
    assert.equal(parseDeadProcesses('1, 3-5,11'), [1, 3, 4, 5, 11]);
    assert.equal(parseDeadProcesses(''), []);
    assert.is(parseDeadProcesses('5-3'), undefined);
    assert.is(parseDeadProcesses('1,x'), undefined);
    assert.is(parseDeadProcesses('0-9999999'), undefined);
  });

  test('it is cut at a rank, to what fits into a line', () => {
    const ranks = Array.from({ length: 1000 }, (_, rank) => rank);
    const kept = parseDeadProcesses(formatDeadProcesses(ranks)) ?? [];
    assert.ok(formatDeadProcesses(ranks).length < 1000);
    assert.equal(kept, ranks.slice(0, kept.length));
  });
});
