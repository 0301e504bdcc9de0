/** When a reduction votes, and what: the controller must know of one that waits, and quick ones need one vote. */

import { assert, eventually, suite } from '@stci/testkit';
import { Collectives } from '../dist/collectives.js';
import { sealedValue } from '../dist/reduce-tree.js';
import { encodeValue } from '../dist/values.js';

const AGREED = { kind: 'allreduce', isMismatch: false, ranks: [[0, 1]], joined: [], failed: [], missing: [] } as const;
const MISMATCH = { code: 'STCI_CLIENT_MISMATCH', reason: 'rank 1 called barrier()' } as const;

/** Rank 0 of two: its votes, the tags that it waits for, and what comes. */
function root() {
  const votes: { readonly kind: string; readonly flag: boolean; readonly text: string }[] = [];
  const takes: { readonly tag: string; readonly signal: AbortSignal; come(answered: object): void }[] = [];
  const collectives = new Collectives({
    calls: {
      hold: () => undefined, release: () => undefined,
      send: ({ kind, flag }: { kind: string; flag: boolean }, bytes: Uint8Array) =>
        votes.push({ kind, flag, text: new TextDecoder().decode(bytes) }),
    } as never,
    messages: {
      holding: (wait: Promise<unknown>) => wait,
      take: (_: number, tag: string, name: string, signal: AbortSignal) => new Promise((resolve, reject) => {
        takes.push({ tag, signal, come: resolve });
        signal.addEventListener('abort', () => reject(new Error(`${name} was cancelled`)));
      }),
    } as never,
    rank: 0, size: 2, attempt: 1, onAgreed: () => undefined,
  });
  let decided = 0;
  const decide = (flag: boolean, text: string, top: object = {}): void => {
    decided += 1;
    const bytes = new TextEncoder().encode(text);
    const event = { type: 'agreed', code: '', reason: '', decided, agreed: { ...AGREED, flag }, ...top };
    collectives.onAgreed({ ...event, parts: [[0, bytes.length, 'json']] } as never, bytes);
  };
  const come = (value: unknown): void => takes.shift()?.come({ bytes: sealedValue(encodeValue('', value, 100)) });
  const voted = (count: number): Promise<unknown> =>
    eventually(() => votes.length === count, { what: `vote ${count}`, deadlineMs: 10_000 });
  return { collectives, votes, takes, decide, come, voted };
}

const add = (a: number, b: number): number => a + b;
const codeOf = ({ code }: { readonly code: string }): string => code;

suite('reductions of programs', (test) => {
  test('whose values come at once: one vote, with the result', async () => {
    const { collectives, votes, takes, decide, come, voted } = root();
    const sum = collectives.allReduce(1, add);
    await eventually(() => takes.length === 1, { what: 'the wait for a value' });
    assert.is(takes[0]?.tag, '_r.1');
    come(2);
    await voted(1);
    decide(true, '3');
    assert.is(await sum, 3);
    assert.equal(votes, [{ kind: 'allreduce', flag: true, text: '3' }]);
  });

  test('that waits: a vote without a result, then, if all have called it, one with the result', async () => {
    const { collectives, votes, decide, come, voted } = root();
    const sum = collectives.allReduce(1, add);
    await voted(1);
    decide(false, '');
    come(2);
    await voted(2);
    decide(true, '3');
    assert.is(await sum, 3);
    const silent = { kind: 'allreduce', flag: false, text: '' };
    assert.equal(votes, [silent, { kind: 'allreduce', flag: true, text: '3' }]);
  });

  test('that others did not call: refused, it combines nothing more, and takes away what still comes', async () => {
    const { collectives, votes, takes, decide, voted } = root();
    let combined = 0;
    const refused = collectives.allReduce(1, () => (combined += 1)).catch(codeOf);
    await voted(1);
    decide(false, '', MISMATCH);
    assert.is(await refused, MISMATCH.code);
    const [first, second] = takes.splice(0);
    assert.equal([first?.signal.aborted, second?.signal.aborted, second?.tag], [true, false, '_r.1']);
    second?.come({ bytes: sealedValue(encodeValue('', 2, 100)) });
    const next = collectives.allReduce(1, add);
    await eventually(() => takes.length === 1, { what: 'the next reduction' });
    assert.equal([takes[0]?.tag, votes.length, combined], ['_r.2', 1, 0]);
    takes[0]?.come({ bytes: sealedValue(encodeValue('', 2, 100)) });
    await voted(2);
    decide(true, '3');
    assert.is(await next, 3);
  });

  test('the number of one is that of the job, whatever was refused before', async () => {
    const { collectives, takes, decide, voted } = root();
    const refused = collectives.barrier().catch(codeOf);
    await voted(1);
    decide(false, '', { code: 'STCI_CLIENT_RANK_LOST', decided: 6 });
    assert.is(await refused, 'STCI_CLIENT_RANK_LOST');
    void collectives.allReduce(1, add).catch(() => undefined);
    await eventually(() => takes.length === 1, { what: 'the wait for a value' });
    assert.is(takes[0]?.tag, '_r.7');
    collectives.end(new Error('over') as never);
  });
});
