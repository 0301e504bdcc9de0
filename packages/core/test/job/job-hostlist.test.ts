/** Host lists: their meaning, messages for mistakes, and folding as their inverse. */

import { expandHostlist, foldHostlist, foldSorted, intersectHosts, minusHosts, unionHosts, xorHosts } from '@stci/core';
import { assert, seededIntegers, suite } from '@stci/testkit';

const show = (text: string): string =>
  expandHostlist(text)
    .map(({ name, user, slots }) => (user ? `${user}@` : '') + name + (slots ? `:${slots}` : ''))
    .join(' ');

suite('host lists', (test) => {
  test('are expanded in order, padding kept', () => {
    const cases: Record<string, string> = {
      'a,b': 'a b',
      ' a , b ': 'a b',
      'a,a': 'a a',
      'n[01-03,20]': 'n01 n02 n03 n20',
      'n[8-11]': 'n8 n9 n10 n11',
      'n[08-11]': 'n08 n09 n10 n11',
      'n[0-1]': 'n0 n1',
      'n[098-101]': 'n098 n099 n100 n101',
      'rack[1-2]n[1-2]': 'rack1n1 rack1n2 rack2n1 rack2n2',
      'n[1-2]-ib:3,x': 'n1-ib:3 n2-ib:3 x',
      'me@x:4': 'me@x:4',
      '10.0.0.[1-2]': '10.0.0.1 10.0.0.2',
      '[1-3]': '1 2 3',
      '[::1],[fe80::1%eth0]:2,u@[::ffff:10.0.0.1]': '::1 fe80::1%eth0:2 u@::ffff:10.0.0.1',
    };
    for (const [text, expected] of Object.entries(cases)) assert.is(show(text), expected, text);
  });

  test('mistakes name the column, what was expected and what was found', () => {
    const cases: [string, number, string][] = [
      ['n[3-1]', 3, 'a range that ascends, 1-3, got 3-1'],
      ['a,,b', 3, 'a host name, got ","'],
      ['a,', 3, 'a host name, got the end of the list'],
      ['', 1, 'a host name, got the end of the list'],
      ['n[1-', 2, 'a ] that closes this bracket'],
      ['ab,n[1-4', 5, 'a ] that closes this bracket'],
      ['n[]', 3, 'a number in brackets'],
      ['n[a]', 3, 'got "a"'],
      ['n[1;2]', 4, 'got ";"'],
      ['n[1-2-3]', 6, 'got "-"'],
      ['n[01-2]', 3, 'padded to the same width'],
      ['n[9-011]', 3, 'padded to the same width'],
      ['a b', 3, 'a comma or the end of the list, got "b"'],
      ['a]', 2, 'got "]"'],
      ['::1', 1, 'an IPv6 address in brackets'],
      ['fe80::1', 5, 'an IPv6 address in brackets'],
      ['[:::1]', 2, 'a number in brackets (or an IPv6 address alone'],
      ['a:0', 3, 'slots in 1..1000000'],
      ['a:', 3, 'got nothing'],
      ['a:x', 3, 'got "x"'],
      ['a:9999999', 3, 'slots in 1..1000000'],
      ['-oProxyCommand=x', 1, 'begins with a letter'],
      ['-l@x', 1, 'a user name before @'],
      ['@x', 1, 'a user name before @'],
      ['é', 1, 'got "é"'],
      ['a\u0000', 2, 'got "?"'],
      ['n[1-1000001]', 1, 'at most 1000000 hosts'],
      ['a,n[1-999]m[1-999]k[1-999999999999]', 3, 'at most 1000000 hosts'],
    ];
    for (const [text, column, words] of cases) {
      const { message } = assert.throwsCode('STCI_HOSTLIST_INVALID', () => expandHostlist(text, { name: '--host' }));
      assert.match(message, words);
      assert.match(message, `--host: column ${column}: `, text);
      assert.is(message.split('\n').at(-1)!.indexOf('^'), column + 1, `caret of ${text}`);
    }
  });

  test('a bracket is an address exactly where it parses as one', () => {
    const good = ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7::', '1::2:3:4:5:6:7',
      'FE80::A%eth0.1', '1::10.0.0.255'];
    for (const address of good) assert.equal(expandHostlist(`[${address}]:2`), [{ name: address, slots: 2 }]);
    const bad = ['1:2', '1:2:3:4:5:6:7:8:9', '1::2:3:4:5:6:7:8', '1::2::3', '12345::', 'g::', ':1::', '::1%',
      '::10.0.0.256'];
    for (const address of bad) assert.throwsCode('STCI_HOSTLIST_INVALID', () => expandHostlist(`[${address}]`));
  });

  test('a mistake deep in a long list is shown with its surroundings only', () => {
    const { message } = assert.throwsCode('STCI_HOSTLIST_INVALID', () => expandHostlist(`${'host,'.repeat(10_000)}!`));
    assert.match(message, 'column 50001');
    assert.ok(message.split('\n').every((line) => line.length < 100));
  });

  test('a list of the largest size is expanded', () => {
    assert.is(expandHostlist('n[000001-500000],m[1-500000]').length, 1_000_000);
  }, { timeoutMs: 30_000 });

  test('in messages hosts are folded once each, numbers ascending', () => {
    assert.is(foldSorted(['h2', 'h1', 'h10', 'b', 'h2']), 'b,h[1-2,10]');
    assert.equal([['h10', 'h2'], ['h1', 'h1'], []].map(foldSorted), ['h[2,10]', 'h1', '']);
  });

  test('folding is short and the inverse of expanding', () => {
    assert.is(foldHostlist(['n01', 'n02', 'n03', 'n07', 'r1n2', 'r1n3', '::1', 'x']), 'n[01-03,07],r1n[2-3],[::1],x');
    assert.is(foldHostlist(['n1r5', 'n2r5', 'n3r5']), 'n[1-3]r5');
    assert.is(foldHostlist(['n9', 'n10', 'n011', 'n9']), 'n[9-10,011,9]');
    assert.is(foldHostlist([]), '');
    const random = seededIntegers(7);
    for (let round = 0; round < 2000; round++) {
      const names = Array.from({ length: 1 + random(12) }, () => randomName(random));
      assert.equal(expandHostlist(foldHostlist(names)).map((item) => item.name), names, names.join(' '));
    }
    const long = expandHostlist('n[00001-10000]-ib').map((item) => item.name);
    assert.is(foldHostlist(long), 'n[00001-10000]-ib');
  });

  test('set operations keep order, each name once', () => {
    const [a, b] = [['c', 'a', 'b', 'a'], ['b', 'd']];
    assert.equal(unionHosts(a, b), ['c', 'a', 'b', 'd']);
    assert.equal(intersectHosts(a, b), ['b']);
    assert.equal(minusHosts(a, b), ['c', 'a']);
    assert.equal(xorHosts(a, b), ['c', 'a', 'd']);
  });

  test('random bytes are refused or expanded, never anything else', () => {
    const random = seededIntegers(11);
    const alphabet = 'an01[]-,:@. %é:[9';
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: random(14) }, () => alphabet[random(alphabet.length)]).join('');
      try {
        for (const { name } of expandHostlist(text)) assert.match(name, /^[A-Za-z0-9._:%-]+$/);
      } catch (error) {
        assert.is((error as { code?: string }).code, 'STCI_HOSTLIST_INVALID', text);
      }
    }
  }, { timeoutMs: 30_000 });
});

function randomName(random: (below: number) => number): string {
  const number = (): string => String(random(12)).padStart(random(3), '0');
  const forms = [`n${number()}`, `r${number()}n${number()}`, `n${number()}-ib`, 'login', '::1'];
  return forms[random(forms.length)]!;
}
