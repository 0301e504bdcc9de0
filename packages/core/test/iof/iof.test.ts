/** The smaller parts of iof: file templates, gathering, JSON lines, folded ranks. */

import { assert, suite } from '@stci/testkit';
import {
  expandTemplate,
  foldRanks,
  gatherHeader,
  groupOutput,
  OutputLines,
  parseTemplate,
  prefixLines,
  sourceId,
  type TemplateFacts,
} from '@stci/core/iof';
import { StciError } from '@stci/interface';
import { ascii, codec } from './iof-help.js';

const facts: TemplateFacts = { rank: 7, host: 'n1', stream: 'stdout', size: 32, app: 0, pid: 4711, job: 1 };

function expand(template: string): string {
  return expandTemplate(parseTemplate(template), facts);
}

function refusal(template: string): string {
  try {
    parseTemplate(template);
  } catch (thrown) {
    assert.ok(thrown instanceof StciError && thrown.code === 'STCI_OUTPUT_TEMPLATE');
    return thrown.message;
  }
  return '';
}

suite('prefix of lines', (test) => {
  test('each line has it, whether lines are short, long or both', () => {
    for (const lengths of [[0], [3], [10, 11], [22, 23, 24], [79], [0, 2000, 0, 0], [1500, 1, 2, 3], [5000]]) {
      const lines = Array.from({ length: 300 }, (_, i) => 'x'.repeat(lengths[i % lengths.length] as number));
      const bytes = prefixLines(ascii(lines.map((line) => `${line}\n`).join('')), ascii('[42] '));
      assert.is(Buffer.from(bytes).toString(), lines.map((line) => `[42] ${line}\n`).join(''));
    }
    assert.equal(prefixLines(ascii('one\n'), ascii('')), ascii('one\n'));
  });
});

suite('output template', (test) => {
  test('fields, widths and percent signs', () => {
    assert.is(expand('dir/%h/%3r.%s'), 'dir/n1/007.stdout');
    assert.is(expand('%n-%a-%6p-%j-%%'), '32-0-004711-1-%');
    assert.is(expand('plain'), 'plain');
    assert.is(expand('%1r%2r%r'), '7077');
  });

  test('a host name is one path element', () => {
    assert.is(expandTemplate(parseTemplate('%h'), { ...facts, host: '../x' }), '.._x');
    for (const [host, name] of [['..', '__'], ['.', '_'], ['...', '...'], ['a\0b', 'a_b']] as const) {
      assert.is(expandTemplate(parseTemplate('out/%h/%r'), { ...facts, host }), `out/${name}/7`);
    }
  });

  test('whatever else follows a percent sign is refused with its place', () => {
    assert.ok(refusal('a%q').includes("'%q' is unknown"));
    assert.ok(refusal('a%q').includes('  a%q\n   ^'));
    for (const bad of ['%', 'x%3', '%3%', '%99r', '%-3r', '%R', '']) assert.ok(refusal(bad) !== '', bad);
  });
});

suite('gather', (test) => {
  test('folds ranks', () => {
    assert.is(foldRanks([]), '');
    assert.is(foldRanks([5]), '5');
    assert.is(foldRanks([3, 1, 2, 0, 7, 9, 10, 7]), '0-3,7,9-10');
  });

  test('groups equal outputs in the order of their lowest rank, silent ranks left out', () => {
    const groups = groupOutput([
      { rank: 3, bytes: 2, digest: 'x' },
      { rank: 0, bytes: 2, digest: 'y' },
      { rank: 2, bytes: 0, digest: '' },
      { rank: 1, bytes: 2, digest: 'x' },
    ]);
    assert.equal(groups, [
      { ranks: [0], bytes: 2 },
      { ranks: [1, 3], bytes: 2 },
    ]);
    assert.is(gatherHeader({ ranks: [1, 2, 3], bytes: 2 }, 'stdout').split('\n')[1], 'ranks 1-3 (3)');
    const named = gatherHeader({ ranks: [1, 2], bytes: 2 }, 'stderr', 'h[1-2]');
    assert.is(named.split('\n')[1], 'ranks 1-2 (2) stderr on h[1-2]');
    assert.is(gatherHeader({ ranks: [4], bytes: 2 }, 'stderr').split('\n')[1], 'rank 4 stderr');
  });
});

suite('lines as objects', (test) => {
  const make = (): OutputLines => new OutputLines({ lineBytesMax: 8, hostOf: () => 'n1', codec });
  const source = sourceId(2, 'stderr');

  test('one object per line, joined over chunks, with the time of its beginning', () => {
    const lines = make();
    assert.equal(lines.push(source, ascii('ab'), 1), []);
    const objects = lines.push(source, ascii('c\n\nd'), 2);
    const common = { type: 'output', rank: 2, host: 'n1', stream: 'stderr' };
    assert.equal(objects, [
      { ...common, time: '1970-01-01T00:00:00.001Z', line: 'abc' },
      { ...common, time: '1970-01-01T00:00:00.002Z', line: '' },
    ]);
    assert.equal(lines.end(source).map(({ partial }) => partial), [true]);
    assert.equal(lines.end(source), []);
  });

  test('bytes that are no text come as base64; a line over the bound in pieces', () => {
    const lines = make();
    const [odd] = lines.push(source, Uint8Array.of(0xff, 10), 1);
    assert.is(odd?.lineBase64, 'b64:255');
    assert.is(Object.hasOwn(odd ?? {}, 'line'), false);
    const [piece] = lines.push(source, ascii('123456789'), 1);
    assert.is(piece?.partial, true);
    assert.is(piece?.line, '123456789');
  });
});
