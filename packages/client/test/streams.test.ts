/** Streams over messages that arrive at once: who receives what. */

import { assert, suite } from '@stci/testkit';
import type { ClientError } from '../dist/errors.js';
import { TreeStream } from '../dist/streams.js';
import { opened, sealedValue } from '../dist/reduce-tree.js';
import { encodeValue } from '../dist/values.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Of rank 1, below rank 0. */
function child(children: number[] = []) {
  const waiting: ((answered: object) => void)[] = [];
  const passed: string[] = [];
  const messages = {
    take: (_from: number, _tag: string, _name: string, signal?: AbortSignal) => new Promise((resolve, reject) => {
      waiting.push(resolve);
      if (signal !== undefined) signal.onabort = () => reject(signal.reason as Error);
    }),
    pass: async (to: number, _tag: string, bytes: Uint8Array) => {
      try {
        passed.push(`${to} ${String(opened(bytes))}`);
      } catch (fault) {
        passed.push(`${to} ${(fault as ClientError).code}`);
      }
    },
    holding: (wait: Promise<unknown>) => wait,
  };
  const group = { rank: 1, size: 3, ranks: [0, 1, 2] };
  const combine = (): never => {
    throw new Error('it cannot be combined');
  };
  const stream = new TreeStream({
    messages: messages as never, group, label: '1.s', parent: 0, children, combine,
  });
  const come = async (value: unknown): Promise<void> => {
    waiting.shift()?.({ bytes: sealedValue(encodeValue('', value, 100)) });
    await turn();
  };
  return { stream, come, passed };
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

  test('close and failure with unread values, as many as may wait too, are told to those below', async () => {
    for (const [count, end] of [[1, 'STCI_CLIENT_CLOSED'], [16, 'STCI_CLIENT_CLOSED'], [16, 'STCI_CLIENT_COMBINE']]) {
      const { stream, come, passed } = child([2]);
      for (let value = 1; value <= Number(count); value++) await come(value);
      assert.is(passed.length, count);
      if (end === 'STCI_CLIENT_CLOSED') stream.close();
      else {
        const failure = stream.reduce(1 as never).catch(({ code }: ClientError) => code);
        await turn();
        await come('up');
        assert.is(await failure, end);
      }
      await turn();
      assert.ok(passed.includes(`2 ${end}`), passed.join());
      for (let value = 1; value <= Number(count); value++) assert.is(await stream.receive(), value);
      assert.is(await stream.receive().catch(({ code }: ClientError) => code), end);
    }
  });

  test('one that has received all closes the stream without a word', async () => {
    const { stream, come, passed } = child([2]);
    await come('a');
    await stream.receive();
    stream.close();
    await come('late');
    assert.equal(passed, ['2 a']);
  });
});
