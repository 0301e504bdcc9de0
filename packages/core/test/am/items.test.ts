/** What messages cost to decode, besides their bytes. */

import { CONTROLLER, rootAddress, sessionAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { decodeBody } from '../../dist/am/requests.js';
import { encode } from '../../dist/codec/cbor.js';
import { addressOf, line, makeNet } from './net.js';

suite('items of messages', (test) => {
  test('a message of a host has bounded items: decoding eight million empty lists takes seconds', () => {
    const lists = (count: number): Uint8Array => encode(Array.from({ length: count }, () => []));
    const [host, tool] = [rootAddress(0), sessionAddress(0)];
    assert.is((decodeBody('agent.echo', host, lists(60_000)) as unknown[]).length, 60_000);
    for (const source of [host, tool, CONTROLLER]) {
      assert.throwsCode('STCI_CODEC_INVALID', () => decodeBody('agent.echo', source, lists(70_000)));
      assert.throwsCode('STCI_CODEC_INVALID', () => decodeBody('detector.message', source, lists(70_000)));
    }
    assert.throwsCode('STCI_CODEC_INVALID', () => decodeBody('job.started', tool, lists(1 << 20)));
    decodeBody('job.launch', CONTROLLER, lists(1 << 20));
  });

  test('a list of many entries is sent in several messages', () => {
    const net = makeNet(line(2));
    const got: number[] = [];
    net.nodes[0]?.messages.on('program.marked', ({ marks }) => void got.push(marks.length));
    const marks = Array.from({ length: 40_000 }, (_, i) => [i, 'm', 1] as const);
    const bodyOf = (part: typeof marks) => ({ host: 0, marks: [...part] });
    net.nodes[1]?.messages.sendList(addressOf(0), 'program.marked', marks, (part) => bodyOf([...part]));
    net.until(() => got.length === 4, 'all of them');
    assert.equal(got, [10_000, 10_000, 10_000, 10_000]);
  });
});
