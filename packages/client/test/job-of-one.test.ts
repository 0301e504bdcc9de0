/** A program that stcirun did not start: a job of one rank, with the same results and errors. */

import { connect, type Client, type ClientError } from '@stci/client';
import { assert, suite } from '@stci/testkit';

const open = (): Promise<Client> => connect({ env: {} });
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(() => 'no error', ({ code }: ClientError) => code);

suite('a job of one', (test) => {
  test('knows itself, and collectives are of its own values', async () => {
    const stci = await open();
    assert.equal([stci.rank, stci.size, stci.attempt, stci.group], [0, 1, 1, { rank: 0, size: 1, ranks: [0] }]);
    const [place] = await stci.hosts();
    assert.equal([place?.name, place?.ranks], [stci.host, [0]]);
    await stci.barrier();
    assert.equal(await stci.gather('a'), ['a']);
    assert.equal(await stci.allGather({ b: 1 }), [{ b: 1 }]);
    assert.equal([await stci.broadcast(7), await stci.reduce(3, Math.max), await stci.allReduce(4, Math.min)],
      [7, 3, 4]);
    assert.equal([await stci.agree(false), await stci.shrink()], [{ flag: false, failed: [] }, stci.group]);
    stci.close();
  });

  test('sends to itself; values of every kind arrive as they were sent', async () => {
    const stci = await open();
    for (const value of ['text ✓', { a: [1, null] }, 7, null, true]) {
      await stci.send(0, value, { tag: 'v' });
      assert.equal(await stci.receive({ from: 0, tag: 'v' }), { from: 0, tag: 'v', value });
    }
    await stci.send(0, new Uint16Array([1, 513]));
    const { value, tag } = await stci.receive();
    assert.equal([tag, value], ['default', new Uint8Array([1, 0, 1, 2])]);
    const handled: unknown[] = [];
    const end = stci.onMessage('h', (message) => handled.push(message.value));
    await stci.send(0, 1, { tag: 'h' });
    await stci.send(0, 2, { tag: 'h' });
    await stci.barrier();
    await stci.barrier();
    assert.equal(handled, [1, 2]);
    end();
    stci.close();
  });

  test('keys, topologies and streams', async () => {
    const stci = await open();
    await stci.put('k', { port: 1 });
    assert.is(await stci.get('k'), undefined, 'before the exchange');
    await stci.exchange();
    assert.equal(await stci.get('k'), { port: 1 });
    const { neighbours, parent, children } = await stci.topology('tree');
    assert.equal([neighbours, parent, children], [[], undefined, []]);
    const stream = await stci.openStream<number>({ tag: 's', combine: (a, b) => a + b });
    await stream.multicast('to nobody');
    assert.is(await stream.reduce(5), 5);
    stream.close();
    stci.close();
  });

  test('errors: what is not allowed, who is not there, what does not come, and after close', async () => {
    const stci = await open();
    const wrong: (readonly [string, () => Promise<unknown>])[] = [
      ['ARGUMENT', () => stci.agree(1 as never)],
      ['ARGUMENT', () => stci.send(0, () => 1)],
      ['ARGUMENT', () => stci.send(0, undefined)],
      ['ARGUMENT', () => stci.send(0, 1n)],
      ['ARGUMENT', () => stci.send(0, 1, { tag: '_own' })],
      ['ARGUMENT', () => stci.send(0.5, 1)],
      ['RANK', () => stci.send(1, 1)],
      ['RANK', () => stci.gather(1, 3)],
      ['RANK', () => stci.receive({ from: -1 })],
      ['ARGUMENT', () => stci.receive({ waitMs: -1 })],
      ['TIMEOUT', () => stci.receive({ from: 0, waitMs: 0 })],
      ['TIMEOUT', () => stci.receive({ from: 0, waitMs: 1 })],
      ['RANK_ENDED', () => stci.receive()],
      ['ARGUMENT', () => stci.put('a b', 1)],
      ['LIMIT', () => stci.put('k', new Uint8Array(2_000_000))],
      ['LIMIT', () => stci.send(0, new Uint8Array(9_000_000))],
      ['ARGUMENT', () => stci.allReduce(1, 'add' as never)],
      ['TOPOLOGY', () => stci.topology('tree', { size: 4 })],
      ['ARGUMENT', () => stci.topology('tree', { size: 0 })],
      ['ARGUMENT', () => stci.openStream({ tag: 'a b' })],
      ['ARGUMENT', () => stci.openStream({ tag: 't'.repeat(51) })],
      ['ARGUMENT', () => stci.send(0, 1, { tga: 'ab' } as never)],
      ['ARGUMENT', () => stci.send(0, 1, 'tag' as never)],
      ['ARGUMENT', () => stci.receive({ frmo: 0, waitMs: 1 } as never)],
      ['ARGUMENT', () => stci.topology('tree', { szie: 4 } as never)],
      ['ARGUMENT', () => stci.openStream({ tag: 's', roto: 0 } as never)],
      ['ARGUMENT', () => stci.send(0, [Infinity])],
      ['ARGUMENT', () => stci.send(0, { of: new Map([[1, 2]]) })],
      ['LIMIT', () => stci.allGather('x'.repeat(1_100_000))],
      ['LIMIT', () => stci.allReduce('x'.repeat(1_100_000), Math.max as never)],
    ];
    for (const [code, call] of wrong) assert.is(await codeOf(call()), `STCI_CLIENT_${code}`, String(call));
    const ending = new AbortController();
    const wait = stci.receive({ from: 0, signal: ending.signal });
    ending.abort('enough');
    assert.is(await wait.catch((reason: unknown) => reason), 'enough');
    const waiting = stci.barrier().catch(({ message }: ClientError) => message);
    const receiving = stci.receive({ from: 0 }).catch(({ message }: ClientError) => message);
    await new Promise((resolve) => setImmediate(resolve));
    stci.close();
    assert.match(String(await receiving), /^receive\(\): .* closed by close\(\)$/);
    assert.match(String(await waiting), /^barrier\(\), the 3rd collective: .* closed by close\(\)$/);
    assert.is(await codeOf(stci.barrier()), 'STCI_CLIENT_CLOSED');
    assert.is(await codeOf(stci.send(0, 1)), 'STCI_CLIENT_CLOSED');
  });

  test('a root that is no number is shown', async () => {
    const stci = await open();
    const error = await stci.gather(1, { root: 0 } as never).catch((fault: unknown) => fault as ClientError);
    assert.is((error as ClientError).message, 'gather(): expected the root, a rank, in 0..0, got {root}');
    stci.close();
  });

  test('a function that throws is named with its collective', async () => {
    const stci = await open();
    await stci.barrier();
    const error: unknown = await stci.agree('x' as never).catch((fault: unknown) => fault);
    assert.match((error as Error).message, /^agree\(x\): not a boolean$/);
    stci.close();
  });

  test('a second connection is refused while the first is open, as in a job', async () => {
    const stci = await open();
    const error = await open().catch((fault: unknown) => fault as ClientError) as ClientError;
    assert.is(error.code, 'STCI_CLIENT_REFUSED');
    assert.is(error.message, 'Cannot begin a job of one: rank 0 is connected already, from this process.');
    assert.is(await codeOf(open()), 'STCI_CLIENT_REFUSED', 'the one that was refused has not freed the place');
    await stci.barrier();
    stci.close();
    (await open()).close();
  });

  test('topologies: what is written wrongly, and kinds and options that are not there', async () => {
    const stci = await open();
    const wrong: (readonly [spec: string, said: RegExp])[] = [
      ['', /expected the name of a topology first/],
      ['tree:', /expected an option behind the colon/],
      ['tree:arity', /expected NAME=VALUE instead of 'arity'/],
      ['nonsense', /^topology\(\): topology nonsense is none of bmg, mesh, tree; one of a plugin is known to/],
      ['constructor', /is none of bmg, mesh, tree/],
      ['mesh:dimensons=2x2', /topology mesh: unknown option dimensons: expected one of dimensions, wrap/],
      ['mesh:dimensions=5x5', /topology mesh: option dimensions: \[5,5\] is not allowed for one position/],
      ['mesh:dimensions=1x1x1x1', /option dimensions/],
      ['mesh:wrap=1', /option wrap/],
      ['tree:arity=0', /option arity/],
      ['tree:arity=1025', /option arity/],
      ['bmg:arity=2', /topology bmg: unknown option arity: expected none/],
    ];
    for (const [spec, said] of wrong) {
      const error = await stci.topology(spec).catch((fault: unknown) => fault as ClientError) as ClientError;
      assert.is(error.code, 'STCI_CLIENT_TOPOLOGY', spec);
      assert.match(error.message, said);
    }
    assert.is(await codeOf(stci.openStream({ tag: 's', topology: 'nonsense' })), 'STCI_CLIENT_TOPOLOGY');
    const right = ['bmg', 'tree', 'tree:arity=7', 'mesh', 'mesh:dimensions=1', 'mesh:dimensions=1x1,wrap=true'];
    for (const spec of right) assert.equal((await stci.topology(spec)).neighbours, []);
    stci.close();
  });
});
