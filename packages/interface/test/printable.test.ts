/** Text of other programs on a terminal. */

import { printable } from '@stci/interface';
import { assert, suite } from '@stci/testkit';

suite('printable', (test) => {
  test('sequences that a terminal obeys are written out, of seven and of eight bits', () => {
    assert.is(printable('a\x1b[2Jb\x07\r\x7f\x9b31m'), 'a\\u001b[2Jb\\u0007\\u000d\\u007f\\u009b31m');
  });

  test('so are marks that reorder the text around them', () => {
    assert.is(printable('\u202egpj.exe\u2066\u2028'), '\\u202egpj.exe\\u2066\\u2028');
  });

  test('lines, tabs and letters of all languages stay', () => {
    const text = 'it said:\n\tcafé 東京 🚀 \\x1b\n';
    assert.is(printable(text), text);
  });

  test('JSON stays the same JSON', () => {
    const value = { text: '\x1b[0m \x9b \x7f \u202e é' };
    assert.equal(JSON.parse(printable(JSON.stringify(value))), value);
  });
});
