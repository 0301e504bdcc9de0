/** Reading a host's answers: among banners, in any split, bounded. */

import { AnswerReader, BANNER_BYTES_MAX, type Answer } from '@stci/host-program';
import { assert, suite } from '@stci/testkit';

const NONCE = 'feedfacefeedface';
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

class Reading {
  readonly answers: Answer[] = [];
  floods = 0;
  rest: string | undefined;
  readonly reader = new AnswerReader(NONCE, {
    onAnswer: (answer) => this.answers.push(answer),
    onFlood: () => (this.floods += 1),
  });

  push(text: string): this {
    const rest = this.reader.push(bytes(text));
    if (rest !== undefined) this.rest = Buffer.from(rest).toString();
    return this;
  }
}

suite('host-program: answers', (test) => {
  test('are found among banners, cut anywhere', () => {
    const said = `Welcome to h1\nno newline: STCI ${NONCE} shell\n\x1b[0m\nSTCI ${NONCE} need\r\n`
      + `STCI ${NONCE} run\nSTCI not ours`;
    for (let cut = 0; cut <= said.length; cut++) {
      const reading = new Reading().push(said.slice(0, cut));
      if (reading.rest === undefined) reading.push(said.slice(cut));
      else reading.rest += said.slice(cut);
      assert.equal(reading.answers.map(({ word }) => word), ['shell', 'need', 'run']);
      assert.is(reading.rest, 'STCI not ours');
      assert.match(reading.reader.banner, /^Welcome to h1\nno newline: /);
    }
  });

  test('of another nonce, or with words that nobody says, are banner', () => {
    const reading = new Reading().push(`STCI 00 have\nSTCI ${NONCE} what\nSTCI ${NONCE} fail x y\n`);
    assert.equal([reading.answers, reading.rest], [[], undefined]);
  });

  test('failures tell their phase and text', () => {
    const reading = new Reading().push(`STCI ${NONCE} fail node old /opt/nöde v18.19.0\nagent?`);
    assert.equal(reading.answers, [{ word: 'fail', phase: 'node', text: 'old /opt/nöde v18.19.0' }]);
    assert.is(reading.rest, undefined);
  });

  test('a banner without end is a flood, told once, and its beginning is kept', () => {
    const reading = new Reading().push('y\n'.repeat(BANNER_BYTES_MAX / 2));
    assert.is(reading.floods, 0);
    reading.push('z'.repeat(10)).push('z'.repeat(10));
    assert.is(reading.floods, 1);
    assert.match(reading.reader.banner, /^y\ny\n/);
    assert.is(new Reading().push('x'.repeat(BANNER_BYTES_MAX + 1)).floods, 1);
  });

  test('a line without end costs about what as many short ones do', () => {
    const cpuMs = (text: string): number => {
      const before = process.cpuUsage();
      for (let i = 0; i < 4; i++) assert.is(new Reading().push(text).floods, 1);
      return process.cpuUsage(before).user / 1000;
    };
    const lines = cpuMs('x\n'.repeat(BANNER_BYTES_MAX / 2 + 1));
    const line = cpuMs('x'.repeat(BANNER_BYTES_MAX + 1));
    assert.ok(line < 20 * lines + 100, `${line} ms, and ${lines} ms`);
  });
});
