/** Values that are too large for a collective, or for the job's queues: an error at all ranks, and they go on. */
// @sameFor user: messages between processes of one user.

import { assert, suite } from '@stci/testkit';
import { LONG, linesOf, ranks } from './e2e-ranks.js';

const SMALL = ['--mca', 'bootcom.queue.max=4MiB'];
const short = `
const short = (call) => call.then(({ length }) => length, ({ code, message }) => code + ' ' + message);
`;

suite('programs and limits', (test) => {
  test('a value or a result that is too large fails at all, and the next collectives meet', async () => {
    const result = await ranks(`${short}
const big = 'x'.repeat(1_100_000);
say(1, await short(stci.allGather(rank === 2 ? big : '')));
say(2, (await stci.allGather(rank)).join(''));
say(3, await short(stci.gather(rank === 2 ? NaN : 0)));
say(4, await short(stci.allReduce('x'.repeat(300_000), (a, b) => a + b)));
say(5, await short(stci.reduce('x'.repeat(300_000), (a, b) => a + b)));
say(6, await stci.allReduce(rank, (a, b) => a + b));
`);
    assert.equal([result.exitCode, result.err], [0, '']);
    const lines = linesOf(result);
    const of = (step: number): Set<string> =>
      new Set(lines.filter((line) => line.startsWith(`${line[0]} ${step} `)).map((line) => line.slice(4)));
    const first = 'STCI_CLIENT_LIMIT allGather(), the 1st collective: the value of rank 2 cannot be sent: '
      + 'it is too large, or of no form that can be';
    const own = 'STCI_CLIENT_LIMIT allGather(): the value has 1100000 bytes, at most 1048576 are allowed';
    assert.equal([...of(1)].sort(), [own, first].sort());
    assert.equal([...of(2)], ['01234']);
    assert.is([...of(3)].filter((text) => text.startsWith('STCI_CLIENT_')).length, 2, [...of(3)].join());
    for (const step of [4, 5]) {
      assert.is(of(step).size, 1, [...of(step)].join());
      assert.match([...of(step)].join(), /^STCI_CLIENT_LIMIT .*the value has 1500000 bytes, at most 1048576/);
    }
    assert.equal([...of(6)], ['10']);
    assert.is(lines.length, 30);
  }, LONG);

  test('at the least sizes of agents\' messages: what fits arrives, all else is refused', async () => {
    const fill = (bytes: number): string => `'x'.repeat(${bytes})`;
    const settings = [['bootcom.queue.max=4MiB', 400_000, 2_097_152], ['message.bytes.max=64KiB', 6000, 32_768]];
    for (const [option, fits, most] of settings) {
      const result = await ranks(`${short}
const count = (values) => ({ length: values.join('').length });
say(1, await short(stci.allGather(${fill(fits as number)}).then(count)));
say(2, await short(stci.allGather(${fill(fits as number + 100_000)}).then(count)));
const send = stci.send((rank + 1) % size, ${fill(fits as number)});
await Promise.all(Array.from({ length: 50 }, () => stci.send((rank + 1) % size, ${fill(1000)})));
await send;
for (let i = 0; i < 51; i++) await stci.receive();
say(3, await short(stci.send(0, ${fill(600_000)})));
await stci.barrier();
`, ['--mca', option as string]);
      assert.equal([result.exitCode, result.err], [0, '']);
      const lines = linesOf(result);
      assert.is(lines.filter((line) => line.endsWith(` 1 ${5 * (fits as number)}`)).length, 5, lines.join('\n'));
      const refusal = `at most ${most} are allowed: send more by messages`;
      assert.is(lines.filter((line) => line.endsWith(refusal)).length, 5, lines.join('\n'));
      assert.is(lines.filter((line) => line.includes(' 3 STCI_CLIENT_LIMIT send(): ')).length, 5, lines.join('\n'));
    }
  }, LONG);

  test('a reduction whose intermediate values the agents do not take', async () => {
    const result = await ranks(`${short}
say(await short(stci.allReduce('x'.repeat(270_000), (a, b) => a + b)));
say(await stci.allReduce(rank, (a, b) => a + b));
`, SMALL);
    assert.equal([result.exitCode, result.err], [0, '']);
    const text = 'STCI_CLIENT_LIMIT allReduce(), the 1st collective: the message has 540001 bytes, at most 524288 are '
      + 'allowed: see bootcom.queue.max';
    assert.equal(linesOf(result), [0, 1, 2, 3, 4].flatMap((rank) => [`${rank} 10`, `${rank} ${text}`]));
  }, LONG);
});
