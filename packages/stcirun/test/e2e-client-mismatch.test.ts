/** Reductions beside other collectives, in real jobs: an error that says who called what, at all, and no rank hangs. */
// @timeoutMs 180000
// @sameFor user, node: the controller decides what is refused, and the library when it votes.

import { assert, suite } from '@stci/testkit';
import { LONG, linesOf, ranks } from './e2e-ranks.js';

const CALLS = `
const add = (a, b) => a + b;
const calls = {
  'reduce() with root 0': () => stci.reduce(1, add), 'reduce() with root 3': () => stci.reduce(1, add, 3),
  'allReduce()': () => stci.allReduce(1, add), 'barrier()': () => stci.barrier(),
  'gather() with root 0': () => stci.gather(1), 'allGather()': () => stci.allGather(1),
  'broadcast() with root 0': () => stci.broadcast(1), 'exchange()': () => stci.exchange(),
  'agree()': () => stci.agree(true), 'shrink()': () => stci.shrink(),
};
const told = async (call) => {
  try {
    const value = await call();
    return 'done ' + JSON.stringify(value);
  } catch ({ code, message }) {
    return code + ' ' + message.replace(/.* collective: /, '');
  }
};
`;

/** Which ranks call the reduction: the first, that which has values below it, a last one; and all but the first. */
const MIXES = [[0], [2], [4], [1, 2, 3, 4]];

suite('reductions beside other collectives', (test) => {
  for (const reduction of ['reduce() with root 0', 'allReduce()']) {
    test(`${reduction}: each mix with each other call`, async () => {
      const result = await ranks(`${CALLS}
const reduction = '${reduction}';
for (const mix of ${JSON.stringify(MIXES)}) {
  for (const other of Object.keys(calls)) {
    if (other === reduction) continue;
    const text = await told(calls[mix.includes(rank) ? reduction : other]);
    const isNamed = text.includes(' called ' + reduction) && text.includes(' called ' + other);
    if (!text.startsWith('STCI_CLIENT_MISMATCH ') || !isNamed) say(mix, other, text);
    const sum = await told(calls['allReduce()']);
    if (sum !== 'done 5') say(mix, other, 'then', sum);
  }
}
say('met');
`);
      assert.equal([result.exitCode, result.err], [0, '']);
      assert.equal(linesOf(result), [0, 1, 2, 3, 4].map((rank) => `${rank} met`));
    }, LONG);
  }

  test('three calls at once, and a value that no mailbox keeps; the next ones meet', async () => {
    const result = await ranks(`${CALLS}
const large = () => stci.allReduce('x'.repeat(8_000_000), (a) => a);
say(await told(rank === 0 ? calls['shrink()'] : rank === 2 ? calls['barrier()'] : large));
say(await told(calls['allReduce()']));
`);
    const reason = 'rank 0 called shrink(), ranks 1, 3-4 called allReduce(), rank 2 called barrier()';
    const lines = [0, 1, 2, 3, 4].flatMap((rank) => [
      `${rank} STCI_CLIENT_MISMATCH ${reason}. All ranks must call the same, in the same order`, `${rank} done 5`]);
    assert.equal([result.exitCode, result.err], [0, '']);
    assert.equal(linesOf(result), lines.sort());
  }, LONG);

  test('ranks that come late to a reduction, or combine for long, have its result', async () => {
    const result = await ranks(`${CALLS}
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
for (const late of [0, 1, 2, 4]) {
  if (rank === late) await later(700);
  say(await told(() => stci.reduce(String(rank), add, 3)));
}
say(await told(() => stci.allReduce(rank, async (a, b) => (await later(300), a + b))));
const throws = async () => { await later(400); throw Error('no'); };
say(await told(() => stci.allReduce(rank, rank === 2 ? throws : add)));
say(await told(calls['allReduce()']));
`);
    assert.equal([result.exitCode, result.err], [0, '']);
    const threw = 'STCI_CLIENT_COMBINE the function of rank 2 threw: no';
    const lines = [0, 1, 2, 3, 4].flatMap((rank) => [
      ...Array<string>(4).fill(rank === 3 ? '3 done "01234"' : `${rank} done undefined`), `${rank} done 10`,
      `${rank} ${threw}`, `${rank} done 5`]);
    assert.equal(linesOf(result), lines.sort());
  }, LONG);

  for (const [ending, code] of [["process.kill(process.pid, 'SIGKILL')", 'LOST'], ['process.exit(0)', 'ENDED']]) {
    test(`a rank ends (${code}); one calls shrink, the others reduce, then shrink; and they meet again`, async () => {
      const result = await ranks(`${CALLS}
await stci.barrier();
if (rank === 3) ${ending};
if (rank !== 1) say((await told(calls['allReduce()'])).split(' ')[0]);
await stci.shrink();
say(await told(calls['allReduce()']));
`, ['--on-failure', 'continue']);
      const meet = [0, 1, 2, 4].map((rank) => `${rank} done 4`);
      const refused = [0, 2, 4].map((rank) => `${rank} STCI_CLIENT_RANK_${code}`);
      assert.equal(linesOf(result), [...meet, ...refused].sort());
    }, LONG);
  }

  test('a rank that was started again reduces with the others', async () => {
    const result = await ranks(`${CALLS}
if (stci.attempt === 1) {
  for (let i = 0; i < 3; i++) await stci.allReduce(1, add);
  if (rank === 2) process.kill(process.pid, 'SIGKILL');
  while (!stci.failed().includes(2)) await new Promise((resolve) => stci.onFailure(resolve));
}
while ((await stci.shrink()).size < size);
say(await told(calls['allReduce()']));
`, ['--on-failure', 'restart']);
    assert.equal(linesOf(result), [0, 1, 2, 3, 4].map((rank) => `${rank} done 5`));
  }, LONG);
});
