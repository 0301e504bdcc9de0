/** Host files, and the hosts of a job from all sources. */

import { createRegistry, parseHostfile } from '@stci/core';
import { allocate, allocationComponents, allocationFramework, type NamedHosts } from '@stci/core/allocation';
import { assert, suite } from '@stci/testkit';
import { selectorOf } from '../assembly.js';

const show = (hosts: ReturnType<typeof allocate>): string =>
  hosts
    .map((h) => `${h.user ? `${h.user}@` : ''}${h.name}${h.slotsBound ? '=' : '~'}${h.slots}(${h.origin})`)
    .join(' ');

const registry = createRegistry({ frameworks: [allocationFramework], components: allocationComponents });

/** The hosts of a request; `set`: parameters. */
const from = (request: Partial<NamedHosts>, set: Record<string, string> = {}): string => {
  const deps = {
    variables: {},
    thisMachine: { hostname: 'me', cpuCount: 4 },
    readFile: (variable: string) => {
      throw new Error(`no file of ${variable} is read`);
    },
  };
  return show(allocate(selectorOf(registry, set), deps, { hosts: [], hostfiles: [], exclude: [], ...request }));
};

suite('host files', (test) => {
  const mistakes = (text: string): string =>
    assert.throwsCode('STCI_HOSTFILE_INVALID', () => parseHostfile('h.txt', text)).message;

  test('know every way of writing a host', () => {
    const text = '\uFEFFa\r\nb:4  # four\n\n  # nothing\n\tu@c slots=3  \nd user=v slots=2\nn[1-2]:5\n[::1]:2\n';
    assert.is(show(parseHostfile('h', text)),
      'a~1(h:1) b=4(h:2) u@c=3(h:5) v@d=2(h:6) n1=5(h:7) n2=5(h:7) ::1=2(h:8)');
  });

  test('mistakes name file, line and column', () => {
    const cases: [string, string][] = [
      ['a slot=3', 'h.txt:1:3: expected slots=N, max_slots=N or user=NAME, got "slot=3". Did you mean slots?'],
      ['a slots=5 max_slots=3', 'h.txt:1:1: expected max_slots of at least the 5 slots, got 3'],
      ['a slots', 'h.txt:1:3: expected slots=N'],
      ['a slots=0', 'h.txt:1:3: expected slots in 1..1000000'],
      ['a slots=1e3', 'expected slots in 1..1000000'],
      ['a:2 slots=3', 'h.txt:1:5: expected slots once'],
      ['u@a user=v', 'h.txt:1:5: expected user once'],
      ['a user=-l', 'expected a user name'],
      ['ok\n  n[2-1]', 'h.txt:2:5: expected a range that ascends'],
      ['a b', 'h.txt:1:3: expected slots=N, max_slots=N or user=NAME, got "b"'],
      ['# x\n', 'h.txt: expected at least one host, got none'],
    ];
    for (const [text, words] of cases) {
      assert.match(mistakes(text), words);
    }
  });

  test('all bad lines are told at once, the first eight in full', () => {
    assert.is(mistakes('a slots\nok\nb c\n'),
      'h.txt:1:3: expected slots=N, max_slots=N or user=NAME, got "slots".\n'
      + 'h.txt:3:3: expected slots=N, max_slots=N or user=NAME, got "c".');
    const lines = mistakes('a b\n'.repeat(10)).split('\n');
    assert.equal([lines.length, lines.at(-1)], [9, 'and 2 more']);
    assert.match(mistakes('!\n'.repeat(5000)), /\nand 992 more at least$/);
    assert.ok(mistakes(`a ${'b'.repeat(1000)}`).length < 250);
  });
});

suite('allocation', (test) => {
  const file = { name: 'f', text: 'a:2\nb' };

  test('takes this machine, the named hosts, the files, or a choice of the files', () => {
    assert.is(from({}), 'me~4(this machine)');
    assert.is(from({ hosts: ['a,a', 'b:2,b'] }), 'a~2(--host) b=3(--host)');
    assert.is(from({ hosts: ['a', 'u@a'] }), 'u@a~2(--host)');
    assert.is(from({ hostfiles: [file, { name: 'g', text: 'c' }] }), 'a=2(f:1) b~1(f:2) c~1(g:1)');
    assert.is(from({ hostfiles: [file], hosts: ['b:5,a'] }), 'b=5(--host) a=2(f:1)');
    assert.is(from({ hostfiles: [file], hosts: ['u@a'] }), 'u@a=2(f:1)');
    const text = 'a slots=2 max_slots=4\nb max-slots=3\nc:2 max_slots=2';
    assert.is(from({ hostfiles: [{ name: 'f', text }] }), 'a=2(f:1) b=3(f:2) c=2(f:3)');
    assert.is(from({ hosts: ['n[1-4]'], exclude: ['n[2-3]'] }), 'n1~1(--host) n4~1(--host)');
  });

  test('refuses hosts that are not there, and nothing left', () => {
    const refused = (request: Partial<NamedHosts>, words: string): void =>
      assert.match(assert.throwsCode('STCI_HOST_UNKNOWN', () => from(request)).message, words);
    refused({ hostfiles: [{ name: 'f', text: 'node1' }], hosts: ['nod1'] }, 'Did you mean node1?');
    refused({ hosts: ['a'], exclude: ['b'] }, 'host b is not among the hosts of the job');
    refused({ hosts: ['a,b'], exclude: ['a,b'] }, 'every host of the job is excluded');
    const other = (): string => from({ hosts: ['a'] }, { allocation: 'machine' });
    assert.is(assert.throwsCode('STCI_HOST_UNKNOWN', other).message,
      '--host: host a is not this machine, me. --mca allocation=given takes names as they are.');
    assert.is(from({ hosts: ['me:2'] }, { allocation: 'machine' }), 'me=2(--host)');
    const none = (): string => from({}, { allocation: 'given' });
    assert.match(assert.throwsCode('STCI_MCA_COMPONENT_DECLINED', none).message, 'no host is named');
  });

  test('a host named again gets more slots, by line, list or file', () => {
    assert.is(show(parseHostfile('h', 'a\nb\na\na\nn[1-2],n2')), 'a~3(h:1) b~1(h:2) n1~1(h:5) n2~2(h:5)');
    assert.is(from({ hostfiles: [file, { name: 'g', text: '\na\nu@b' }] }), 'a=3(f:1) u@b~2(f:2)');
  });
});
