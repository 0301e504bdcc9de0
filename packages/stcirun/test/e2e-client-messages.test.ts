/** Programs that send messages and meet in collectives, in real jobs: over all kinds of links, and when ranks end. */
// @timeoutMs 180000
// @sameFor user: messages between processes of one user.

import { assert, suite } from '@stci/testkit';
import { LONG, linesOf, ranks } from './e2e-ranks.js';

const CONTINUE = ['--on-failure', 'continue'];

/** Each rank to each, short and long; then every collective. */
const ALL = `
const sends = [];
for (let to = 0; to < size; to++) {
  for (let i = 0; i < 40; i++) sends.push(stci.send(to, i, { tag: 'n' }));
  sends.push(stci.send(to, new Uint8Array(3_000_000).fill(rank), { tag: 'long' }));
}
const next = new Map();
for (let i = 0; i < 40 * size; i++) {
  const { from, value } = await stci.receive({ tag: 'n' });
  if (value !== (next.get(from) ?? 0)) say('order', from, value);
  next.set(from, value + 1);
}
for (let from = 0; from < size; from++) {
  const { value } = await stci.receive({ from, tag: 'long' });
  if (value.length !== 3_000_000 || value[2_999_999] !== from) say('bytes', from);
}
await Promise.all(sends);
await stci.barrier();
const gathered = await stci.gather(rank * rank, 3);
const all = await stci.allGather('r' + rank);
const text = await stci.allReduce(String(rank), (a, b) => a + b);
const told = await stci.broadcast(rank === 1 ? [1, 2] : 0, 1);
const long = await stci.allReduce(new Array(20_000).fill(rank), (a, b) => a.map((x, i) => x + b[i]));
await stci.put('key' + rank, rank);
await stci.exchange();
say(JSON.stringify([gathered ?? null, all, text, told, long[19_999], await stci.get('key' + (size - 1))]));
`;

const WANTED = [0, 1, 2, 3, 4].map((rank) => {
  const gathered = rank === 3 ? [0, 1, 4, 9, 16] : null;
  return `${rank} ${JSON.stringify([gathered, ['r0', 'r1', 'r2', 'r3', 'r4'], '01234', [1, 2], 10, 4])}`;
});

suite('messages and collectives of programs', (test) => {
  const KINDS: readonly (readonly [string, readonly string[]])[] = [
    ['a tree of agents in their own processes', ['--mca', 'launcher.tree.arity=1']],
    ['links over ws', ['--mca', 'bootcom.boot=ws']],
    ['an overlay', ['--overlay', 'bmg']],
    ['the policy restart', ['--on-failure', 'restart']],
  ];
  for (const [what, options] of KINDS) {
    test(`each with each, and all together: ${what}`, async () => {
      const result = await ranks(ALL, options);
      assert.equal([result.exitCode, result.err], [0, '']);
      assert.equal(linesOf(result), WANTED);
    }, LONG);
  }

  test('a rank that dies in a collective: all others are told at once, and go on without it', async () => {
    const result = await ranks(`
if (rank === 3) setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300);
if (rank === 3) await new Promise(() => undefined);
await stci.allReduce(rank, (a, b) => a + b).catch(failed);
await stci.barrier().catch(failed);
await stci.send(3, 1).catch(failed);
await stci.receive({ from: 3 }).catch(failed);
const { ranks } = await stci.shrink();
say(ranks.join(), await stci.allReduce(rank, (a, b) => a + b));
`, CONTINUE);
    assert.is(result.exitCode, 137, result.err);
    const lost = 'rank 3 on host b was ended by SIGKILL';
    assert.equal(linesOf(result), [0, 1, 2, 4].flatMap((rank) => [
      `${rank} 0,1,2,4 7`,
      `${rank} STCI_CLIENT_RANK_LOST allReduce(), the 1st collective: ${lost}`,
      `${rank} STCI_CLIENT_RANK_LOST barrier(), the 2nd collective: ${lost}`,
      `${rank} STCI_CLIENT_RANK_LOST receive(): ${lost}`,
      `${rank} STCI_CLIENT_RANK_LOST send(): ${lost}`,
    ]).sort());
  }, LONG);

  test('a rank that leaves before a barrier, with 0: the others are not hung', async () => {
    const result = await ranks(`
const ended = new Promise((resolve) => stci.onEnded(resolve));
await stci.barrier();
if (rank === 4) process.exit(0);
await stci.barrier().catch(failed);
await stci.receive({ from: 4 }).catch(failed);
say('ended', (await ended).join());
await stci.shrink();
await stci.barrier();
`);
    assert.is(result.exitCode, 0, result.err);
    const lines = linesOf(result);
    for (const rank of [0, 1, 2, 3]) {
      const code = `${rank} STCI_CLIENT_RANK_ENDED`;
      const place = `${code} barrier(), the 2nd collective: rank 4 on host c ended with status 0`;
      const ended = `${code} receive(): rank 4 on host c has ended`;
      for (const line of [`${rank} ended 4`, place, ended]) {
        assert.ok(lines.includes(line), `'${line}' is not in\n${lines.join('\n')}`);
      }
    }
  }, LONG);

  test('a function that throws in a reduction: an error at all, and the next one is not confused', async () => {
    const result = await ranks(`
await stci.allReduce(rank, (a, b) => { if (rank === 2) throw new Error('no sum'); return a + b; }).catch(failed);
say(await stci.allReduce(rank, (a, b) => a + b));
`);
    assert.equal([result.exitCode, result.err], [0, '']);
    const lines = linesOf(result);
    assert.is(lines.filter((line) => line.endsWith(' 10')).length, 5);
    assert.is(lines.filter((line) => line.includes('STCI_CLIENT_COMBINE allReduce(), the 1st collective: ')).length, 5);
    assert.ok(lines.some((line) => line.includes(' threw: no sum')), lines.join('\n'));
  }, LONG);

  test('streams over a topology: down in order, up combined; a loss ends them at all', async () => {
    const result = await ranks(`
const stream = await stci.openStream({ topology: 'tree:arity=1', tag: 's', combine: (a, b) => a + b });
const other = await stci.openStream({ topology: 'bmg', root: 2, tag: 't', combine: (a, b) => Math.max(a, b) });
for (let i = 0; i < 30; i++) {
  if (rank === 0) await stream.multicast(i);
  else if (await stream.receive() !== i) say('order');
}
say(await stream.reduce(1) ?? '-', await other.reduce(rank) ?? '-');
await stci.barrier();
if (rank === 2) process.kill(process.pid, 'SIGKILL');
if (rank < 2) await stream.reduce(1).catch(failed);
else await stream.receive().catch(failed);
await stci.shrink();
`, CONTINUE);
    const lines = linesOf(result);
    const lost = 'rank 2 on host b was ended by SIGKILL';
    for (const line of ['0 5 -', '1 - -', '2 - 4', '3 - -', '4 - -', `3 STCI_CLIENT_RANK_LOST receive(): ${lost}`]) {
      assert.ok(lines.includes(line), `'${line}' is not in\n${lines.join('\n')}`);
    }
    assert.is(lines.filter((line) => line.endsWith(lost)).length, 4);
  }, LONG);

  test('what one rank leaves unread keeps no other message of that host away, nor its collectives', async () => {
    const result = await ranks(`
const take = ({ from, value }) => from + ' ' + value.length;
if (rank === 2) {
  for (let i = 0; i < 600; i++) stci.send(0, new Uint8Array(10_000), { tag: 'much' });
  stci.send(0, 'later', { tag: 'b' });
}
if (rank === 3) await Promise.all(['x', 'yy', 'zzz'].map((text) => stci.send(0, text)));
if (rank === 0) {
  for (let i = 0; i < 3; i++) say(take(await stci.receive({ from: 3, waitMs: 20_000 })));
}
say(await stci.allReduce(rank, (a, b) => a + b));
if (rank === 0) {
  say(take(await stci.receive({ tag: 'b', waitMs: 20_000 })));
  for (let i = 0; i < 600; i++) await stci.receive({ tag: 'much' });
}
await stci.barrier();
`);
    assert.equal([result.exitCode, result.err], [0, '']);
    const sums = [0, 1, 2, 3, 4].map((rank) => `${rank} 10`);
    assert.equal(linesOf(result), [...sums, '0 2 5', '0 3 1', '0 3 2', '0 3 3'].sort());
  }, LONG);

  test('a deadlock: the report of the timeout says who waits for what', async () => {
    const result = await ranks(`
if (rank === 0) await stci.receive({ from: 1, tag: 'x' });
if (rank === 1) await Promise.all([stci.receive(), stci.receive({ tag: 'y' })]);
if (rank === 2) await new Promise((resolve) => setTimeout(resolve, 100_000));
if (rank === 3) await stci.barrier();
await stci.allReduce(rank, (a, b) => a + b);
`, ['--timeout', '10s']);
    assert.is(result.exitCode, 199);
    const waits = ["0 waits in receive(from 1, tag 'x')", '1 waits in receive()', '3 waits in barrier()',
      '4 waits in allReduce()'].map((text) => `rank ${text.replace(/[()]/g, '\\$&')} since [0-9.]+ s`);
    assert.match(result.err, new RegExp(`\\(--timeout\\): 5 ranks had not ended; ${waits.join('; ')}`));
  }, LONG);

  test('a rank that receives nothing holds up nobody else', async () => {
    const result = await ranks(`
if (rank > 0) {
  let sent = 0;
  for (let i = 0; i < 3000; i++) stci.send(0, new Uint8Array(10_000), { tag: 'much' }).then(() => (sent += 1), () => 0);
  const to = 1 + rank % (size - 1);
  for (let i = 0; i < 100; i++) {
    await stci.send(to, i, { tag: 'ring' });
    await stci.receive({ tag: 'ring', waitMs: 20_000 });
  }
  say(sent < 3000 ? 'held' : 'not held');
}
await stci.barrier();
`);
    assert.equal([result.exitCode, linesOf(result)], [0, ['1 held', '2 held', '3 held', '4 held']], result.err);
  }, LONG);
});
