/**
 * The line merger against a simple oracle: random texts of several ranks, split and interleaved at random from a seed.
 * With any split, each rank's bytes come back whole and in order, and no line has bytes of two ranks.
 */

import { assert, suite } from '@stci/testkit';
import {
  LineMerger,
  makeLabel,
  sourceId,
  sourceRank,
  type LineMergerParams,
  type SourceId,
} from '@stci/core/iof';
import { ascii, codec, seeded, text } from './iof-help.js';

const SEEDS = 60;
const RANKS = 5;

interface Piece {
  readonly source: SourceId;
  readonly chunk: Uint8Array;
}

type Random = (below: number) => number;

/** Lines such as `r3 17 xxxx`, some of them empty but for the name; the last one without a newline now and then. */
function makeText(rank: number, random: Random): string {
  const lines = Array.from({ length: random(40) }, (_, i) => `r${rank} ${i} ${'x'.repeat(random(30))}`);
  const whole = lines.map((line) => `${line}\n`).join('');
  return random(2) === 0 ? whole : `${whole}r${rank} end`;
}

function cut(texts: readonly string[], random: Random): Piece[] {
  const left = texts.map((all, rank) => ({ source: sourceId(rank, 'stdout'), bytes: ascii(all) }));
  const pieces: Piece[] = [];
  while (left.some((l) => l.bytes.length > 0)) {
    const one = left[random(left.length)];
    if (one === undefined || one.bytes.length === 0) continue;
    const length = 1 + random(Math.min(60, one.bytes.length));
    pieces.push({ source: one.source, chunk: one.bytes.slice(0, length) });
    one.bytes = one.bytes.slice(length);
  }
  return pieces;
}

function merge(pieces: readonly Piece[], params: Partial<LineMergerParams>): string {
  const out: Uint8Array[] = [];
  const merger = new LineMerger({
    lineBytesMax: 1 << 20,
    heldBytesMax: 1 << 24,
    emit: (bytes) => out.push(bytes),
    ...params,
  });
  pieces.forEach((piece, i) => merger.push(piece.source, piece.chunk, i, i));
  for (const source of new Set(pieces.map((p) => p.source))) merger.end(source);
  return out.map(text).join('');
}

const rankTag = makeLabel({ tag: 'rank', timestamp: false, hostOf: () => 'h', codec });

suite('line merger, seeded', (test) => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    test(`seed ${seed}: tagged lines are whole and in order`, () => {
      const random = seeded(seed);
      const texts = Array.from({ length: RANKS }, (_, rank) => makeText(rank, random));
      const shown = merge(cut(texts, random), rankTag === undefined ? {} : { prefix: rankTag });
      const byRank = texts.map(() => '');
      for (const line of shown.split('\n').slice(0, -1)) {
        const match = /^\[(\d)\] (r(\d) .*)$/u.exec(line);
        assert.ok(match !== null && match[1] === match[3], `seed ${seed}: mixed line '${line}'`);
        byRank[Number(match[1])] += `${match[2]}\n`;
      }
      const expected = texts.map((t) => (t === '' || t.endsWith('\n') ? t : `${t}\n`));
      assert.equal(byRank, expected, `seed ${seed}`);
    });

    test(`seed ${seed}: untagged lines are whole and in order`, () => {
      const random = seeded(seed + 10_000);
      const texts = Array.from({ length: RANKS }, (_, rank) => makeText(rank, random));
      const lines = merge(cut(texts, random), {}).split('\n');
      texts.forEach((all, rank) => {
        const own = lines.filter((line) => line.startsWith(`r${rank} `));
        assert.equal(own, all.split('\n').filter((line) => line !== ''), `seed ${seed}`);
      });
      const count = texts.reduce((sum, all) => sum + all.split('\n').filter((line) => line !== '').length, 0);
      assert.is(lines.filter((line) => line !== '').length, count, `seed ${seed}: a line too many`);
    });

    test(`seed ${seed}: with a small bound every byte is still there, in order`, () => {
      const random = seeded(seed + 20_000);
      const texts = Array.from({ length: RANKS }, (_, rank) => makeText(rank, random));
      const letters = texts.map((all, rank) => all.replaceAll(/[^\n]/gu, String(rank)));
      const shown = merge(cut(letters, random), { lineBytesMax: 8, heldBytesMax: 30 });
      for (const line of shown.split('\n')) assert.ok(/^(\d)?\1*$/u.test(line), `seed ${seed}: mixed '${line}'`);
      letters.forEach((all, rank) => {
        const want = all.replaceAll('\n', '').length;
        const got = [...shown].filter((c) => c === String(rank)).length;
        assert.is(got, want, `seed ${seed}`);
      });
    });
  }
});

interface Screen {
  readonly merger: LineMerger;
  shown(): string;
}

function screen(params: Partial<LineMergerParams> = {}): Screen {
  let all = '';
  const merger = new LineMerger({
    lineBytesMax: 16,
    heldBytesMax: 64,
    promptMs: 100,
    emit: (bytes) => (all += text(bytes)),
    ...params,
  });
  return { merger, shown: () => all };
}

const A = sourceId(0, 'stdout');
const B = sourceId(1, 'stdout');

suite('line merger, unfinished lines', (test) => {
  test('a prompt alone is shown after a while, and its line goes on', () => {
    const { merger, shown } = screen();
    merger.push(A, ascii('name? '), 0, 1000);
    merger.tick(1099);
    assert.is(shown(), '');
    assert.is(merger.promptDueMs(), 1100);
    merger.tick(1100);
    assert.is(shown(), 'name? ');
    merger.push(A, ascii('hello\nx'), 0, 1200);
    assert.is(shown(), 'name? hello\n');
  });

  test('two unfinished lines are not prompts', () => {
    const { merger, shown } = screen();
    merger.push(A, ascii('a'), 0, 0);
    merger.push(B, ascii('b'), 0, 0);
    assert.is(merger.promptDueMs(), undefined);
    merger.tick(10_000);
    assert.is(shown(), '');
  });

  test('another rank starts a new line after a prompt', () => {
    const { merger, shown } = screen();
    merger.push(A, ascii('name? '), 0, 0);
    merger.tick(100);
    merger.push(B, ascii('b\n'), 0, 200);
    merger.push(A, ascii('yes\n'), 0, 300);
    assert.is(shown(), 'name? \nb\nyes\n');
  });

  test('a line over the bound goes on where it stopped', () => {
    const { merger, shown } = screen();
    merger.push(A, ascii('0123456789'), 0, 0);
    merger.push(A, ascii('0123456789'), 0, 0);
    merger.push(A, ascii('end\nnext\n'), 0, 0);
    assert.is(shown(), '01234567890123456789end\nnext\n');
  });

  test('the last line without a newline stays so, until another follows', () => {
    const { merger, shown } = screen();
    merger.push(A, ascii('last'), 0, 0);
    merger.end(A);
    assert.is(shown(), 'last');
    merger.push(B, ascii('b\n'), 0, 0);
    assert.is(shown(), 'last\nb\n');
  });

  test('with tags the last line gets its newline, also when it was shown before', () => {
    const prefix = rankTag;
    assert.ok(prefix !== undefined);
    const { merger, shown } = screen({ prefix });
    merger.push(A, ascii('prompt'), 0, 0);
    merger.tick(100);
    merger.end(A);
    merger.push(B, ascii('x'), 0, 200);
    merger.end(B);
    assert.is(shown(), '[0] prompt\n[1] x\n');
  });

  test('a message of our own breaks an open line once', () => {
    const { merger, shown } = screen();
    merger.breakLine();
    merger.push(A, ascii('p'), 0, 0);
    merger.tick(100);
    merger.breakLine();
    merger.breakLine();
    assert.is(shown(), 'p\n');
  });

  test('time is that of the chunk in which the line began', () => {
    const prefix = makeLabel({ tag: 'full', timestamp: true, hostOf: () => 'n1', codec });
    assert.ok(prefix !== undefined);
    const { merger, shown } = screen({ prefix });
    const err = sourceId(3, 'stderr');
    merger.push(err, ascii('be'), 1000, 0);
    merger.push(err, ascii('gun\nnew\n'), 2000.4, 0);
    const stamp = (s: number): string => `1970-01-01T00:00:0${s}.000Z [n1:3:stderr] `;
    assert.is(shown(), `${stamp(1)}begun\n${stamp(2)}new\n`);
    assert.is(sourceRank(err), 3);
  });
});
