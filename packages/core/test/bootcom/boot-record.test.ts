/** Boot record: read from a new channel in any split, bounded in size and time; data after it is not lost. */

import { CONTROLLER, rootAddress, type Channel, type StciError } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { Recorder } from '@stci/testkit/compliance';
import { encodeBootRecord, readBootRecord, type BootRecord } from '../../dist/bootcom/boot-record.js';
import { LINK_FRAME, linkFrame } from '../../dist/bootcom/handshake.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { encodeHeader } from '../../dist/codec/frame.js';
import { testPlace } from '../world.js';

const RECORD: BootRecord = {
  session: Uint8Array.from({ length: 8 }, (_, i) => i),
  secret: Uint8Array.from({ length: 32 }, (_, i) => 255 - i),
  self: rootAddress(0x0fff_ffff),
  job: 2 ** 21 - 1,
  parent: CONTROLLER,
  start: 0xdead_beef,
  nativeLink: true,
  frameBytesMax: 1 << 26,
  handshakeMs: 600_000,
  leaseMs: 10_000,
  details: Uint8Array.from({ length: 3000 }, (_, i) => i % 256),
};

const text = (value: string): Uint8Array => Uint8Array.from(value, (c) => c.charCodeAt(0));

function reading(deadlineMs = 1000) {
  const place = testPlace();
  const [near, far] = memoryChannel(place.platform.clock, 'near', 'far');
  const told: { error: StciError | undefined; record: BootRecord | undefined; rest: Channel | undefined }[] = [];
  readBootRecord(far, place.platform.clock, deadlineMs, (error, record, rest) => told.push({ error, record, rest }));
  return { place, near, far, told };
}

suite('boot record', (test) => {
  test('comes back whole, in one piece or in any', () => {
    const bytes = encodeBootRecord(RECORD);
    for (let seed = 0; seed < 40; seed++) {
      const next = seededIntegers(seed);
      const { place, near, told } = reading(60_000);
      for (let at = 0; at < bytes.length; ) {
        const length = seed === 0 ? bytes.length : 1 + next(seed === 1 ? 1 : 500);
        near.send([bytes.slice(at, at + length)]);
        at += length;
        if (next(3) === 0) place.run(1);
      }
      place.run();
      assert.is(told.length, 1);
      assert.equal(told[0]?.record, RECORD, `seed ${seed}`);
    }
  });

  test('what came behind it is repeated in order, then what comes later, then the end', () => {
    const { place, near, told } = reading();
    near.send([encodeBootRecord(RECORD), text('one ')]);
    near.send([text('two ')]);
    place.run();
    near.send([text('three ')]);
    place.run();
    const recorder = new Recorder(told[0]?.rest as Channel);
    assert.is(recorder.text, '', 'bind itself delivers nothing');
    near.send([text('four ')]);
    place.run();
    near.send([text('five')]);
    near.close();
    place.run();
    assert.equal([recorder.text, recorder.reasons, recorder.afterClose], ['one two three four five', ['end of file'],
      '']);
  });

  test('bytes behind the record in the same chunk are repeated', () => {
    const { place, near, told } = reading();
    const record = encodeBootRecord(RECORD);
    const chunk = new Uint8Array(record.length + 5);
    chunk.set(record);
    chunk.set(text('after'), record.length);
    near.send([chunk]);
    place.run();
    const recorder = new Recorder(told[0]?.rest as Channel);
    place.run();
    assert.is(recorder.text, 'after');
  });

  test('a close between the record and the new receiver is told to that one, after all data', () => {
    const { place, near, told } = reading();
    near.send([encodeBootRecord(RECORD), text('last words')]);
    near.close();
    place.run();
    assert.equal([told.length, told[0]?.error], [1, undefined]);
    const recorder = new Recorder(told[0]?.rest as Channel);
    place.run();
    assert.equal([recorder.text, recorder.reasons], ['last words', ['end of file']]);
  });

  test('a receiver that closes on the first repeated bytes hears no more of them', () => {
    const { place, near, told } = reading();
    near.send([encodeBootRecord(RECORD), text('a')]);
    near.send([text('b')]);
    place.run();
    const rest = told[0]?.rest as Channel;
    const heard: string[] = [];
    rest.bind({
      onData: (chunk) => {
        heard.push(String.fromCharCode(...chunk));
        rest.destroy('enough');
      },
      onDrain: () => undefined,
      onClose: (reason) => heard.push(reason),
    });
    place.run();
    assert.is(heard.at(-1), 'enough');
    assert.is(heard.filter((what) => what === 'enough').length, 1, 'told once, last');
  });

  test('no record in time, a cut one, something else, one that is too long: one error, and a closed channel', () => {
    const wrong = encodeHeader(
      { layer: 0, type: LINK_FRAME.boot, flags: 0, ttl: 1, stream: 0, source: 0, destination: 0, job: 0, sequence: 0 },
      16 * 1024 * 1024 + 1,
    );
    const cases: [(near: Channel) => void, string, RegExp][] = [
      [() => undefined, 'STCI_AUTH_TIMEOUT', /No boot record within 1 s/],
      [(near) => near.send([encodeBootRecord(RECORD).slice(0, 500)]), 'STCI_AUTH_TIMEOUT', /within 1 s/],
      [(near) => { near.send([encodeBootRecord(RECORD).slice(0, 500)]); near.close(); }, 'STCI_LINK_CLOSED',
        /end of file before the boot record/],
      [(near) => near.close(), 'STCI_LINK_CLOSED', /the parent is gone/],
      [(near) => near.send([text('help\n')]), 'STCI_FRAME_VERSION', /no STCI agent/],
      [(near) => near.send([linkFrame(LINK_FRAME.hello, 1, new Uint8Array(28))]), 'STCI_FRAME_INVALID',
        /started by its parent, not by hand/],
      [(near) => near.send([linkFrame(LINK_FRAME.boot, 1, new Uint8Array(56))]), 'STCI_FRAME_INVALID',
        /Expected a boot record/],
      [(near) => near.send([wrong]), 'STCI_FRAME_LENGTH', /at most 16777216/],
      ...(['frameBytesMax', 'handshakeMs', 'leaseMs'] as const).flatMap((name) =>
        [0, 0xffff_ffff].map((value): [(near: Channel) => void, string, RegExp] => [
          (near) => near.send([encodeBootRecord({ ...RECORD, [name]: value })]), 'STCI_FRAME_INVALID',
          new RegExp(`Boot record: expected ${name} in \\d+\\.\\.\\d+, got ${value}`),
        ])),
    ];
    for (const [act, code, expected] of cases) {
      const { place, near, told } = reading();
      const recorder = new Recorder(near);
      act(near);
      place.run(2000);
      assert.equal([told.length, told[0]?.error?.code], [1, code]);
      assert.match(told[0]?.error?.message ?? '', expected);
      assert.ok(recorder.closed, 'the channel is closed');
      assert.is(place.world.run(), 'idle', 'no timer is left');
    }
  });

  test('seeded noise is one typed error', () => {
    for (let seed = 0; seed < 300; seed++) {
      const next = seededIntegers(seed);
      const { place, near, told } = reading();
      const bytes = Uint8Array.from({ length: 1 + next(300) }, () => next(256));
      if (seed % 2 === 0) bytes[0] = 1;
      near.send([bytes]);
      near.close();
      place.run(2000);
      assert.is(told.length, 1, `seed ${seed}`);
      assert.ok(told[0]?.error !== undefined, `seed ${seed}`);
    }
  });
});
