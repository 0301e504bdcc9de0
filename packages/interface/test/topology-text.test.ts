/** Topologies in text form. */

import { assert, suite } from '@stci/testkit';
import { parseTopology } from '@stci/interface';

suite('topology in text form', (test) => {
  test('a name, and options of each type', () => {
    assert.equal(parseTopology('bmg'), { kind: 'bmg', options: {} });
    assert.equal(parseTopology('mesh:dimensions=4x3,wrap=true'),
      { kind: 'mesh', options: { dimensions: [4, 3], wrap: true } });
    assert.equal(parseTopology('own:a=-1,b=words,c=x:y'), { kind: 'own', options: { a: -1, b: 'words', c: 'x:y' } });
  });

  test('what is wrong is named', () => {
    const cases = [['', 'the name'], ['Bmg', 'the name'], ['bmg:', 'an option behind'], ['tree:3', "instead of '3'"],
      ['tree:arity=3,arity=4', 'option arity once'], ['tree:arity=', "instead of 'arity='"]] as const;
    for (const [text, words] of cases) {
      assert.match(assert.throwsCode('STCI_TOPOLOGY_INVALID', () => parseTopology(text)).message, words);
    }
  });
});
