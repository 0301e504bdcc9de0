/** Streams over messages that arrive at once: who receives what. */

import { assert, suite } from '@stci/testkit';
import { TreeStream } from '../dist/streams.js';
import { sealedValue } from '../dist/reduce-tree.js';
import { encodeValue } from '../dist/values.js';

/** Of rank 1, below rank 0. */
function child() {
  const waiting: ((answered: object) => void)[] = [];
  const messages = {
    take: () => new Promise((resolve) => waiting.push(resolve)),
    holding: (wait: Promise<unknown>) => wait,
  };
  const group = { rank: 1, size: 2, ranks: [0, 1] };
  const stream = new TreeStream({
    messages: messages as never, group, label: '1.s', parent: 0, children: [], combine: undefined,
  });
  const come = async (value: unknown): Promise<void> => {
    waiting.shift()?.({ bytes: sealedValue(encodeValue('', value, 100)) });
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, come };
}

suite('streams', (test) => {
  test('receives that wait at once get the values in their order', async () => {
    const { stream, come } = child();
    const got: unknown[] = [];
    const all = [1, 2, 3].map((call) => stream.receive().then((value) => got.push([call, value])));
    for (const value of ['a', 'b', 'c']) await come(value);
    assert.equal(got, [[1, 'a'], [2, 'b'], [3, 'c']]);
    await Promise.all(all);
  });

  test('close ends all that wait', async () => {
    const { stream } = child();
    const codes = [1, 2].map(() => stream.receive().catch(({ code }: { readonly code: string }) => code));
    stream.close();
    assert.equal(await Promise.all(codes), ['STCI_CLIENT_CLOSED', 'STCI_CLIENT_CLOSED']);
  });
});
