/** Bring-up under each policy: what fails, when, and how often; the way to every agent that is left. */

import { bootHost, bootPosition, rootAddress, type BootstrapPolicy } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { HANG_MS, BootModel, type Fate, type Play } from './boot-model.js';

const abort: BootstrapPolicy = { policy: 'abort', decide: () => 'abort' };
const retry = (count: number): BootstrapPolicy =>
  ({ policy: 'retry', decide: ({ attempts }) => (attempts <= count ? 'retry' : 'abort') });
const spare: BootstrapPolicy =
  { policy: 'spare', decide: (_failure, { sparesLeft }) => (sparesLeft > 0 ? 'spare' : 'abort') };
const shrink = (min: number): BootstrapPolicy =>
  ({ policy: 'shrink', decide: (_failure, { hostsLeft }) => (hostsLeft >= min ? 'shrink' : 'abort') });

const bad = (fates: Readonly<Record<string, readonly Fate[]>>): Play['fate'] => (name, start) =>
  fates[name]?.[Math.min(start, fates[name].length) - 1] ?? 'up';

function play(over: Partial<Play>): BootModel {
  return new BootModel({ hosts: 7, arity: 2, policy: abort, fate: () => 'up', ...over }).start().run();
}

const ups = (model: BootModel): string[] =>
  model.events.flatMap((event) => (event.type === 'host-up' ? [`${event.name} ${event.up}/${event.total}`] : []));
const failed = (model: BootModel): string[] =>
  (model.aborted[0]?.failures ?? []).map(({ error }) => error.message).sort();

/** What must hold whatever happened. */
function check(model: BootModel, what: string): void {
  assert.is(model.ready.length + model.aborted.length, 1, `${what}: one end`);
  const [ready] = model.ready;
  if (ready === undefined) return;
  const { living } = model;
  ready.hosts.forEach(({ name }, host) => {
    const agent = living.get(bootPosition(host));
    if (!ready.leftOut.has(host)) assert.is(agent?.name, name, `${what}: host ${host} is up, as ${name}`);
  });
  model.launch();
  model.run();
  const expected = ready.hosts.flatMap(({ name }, host) => (ready.leftOut.has(host) ? [] : [`${host} ${name}`]));
  const launched = model.launched.map(([host, name]) => `${host} ${name}`);
  assert.equal(launched.sort(), expected.sort(), `${what}: the launch comes to each host once`);
}

/** Next hops are those of the one path over the links that there are. */
function checkRoutes(model: BootModel, what: string): void {
  const { living } = model;
  const above = (position: number): number => living.get(position)?.parent ?? -1;
  for (const from of [0, ...living.keys()]) {
    for (const to of living.keys()) {
      if (to === from) continue;
      let oracle = to;
      while (oracle > 0 && above(oracle) !== from) oracle = above(oracle);
      const hop = model.nextHop(from, rootAddress(bootHost(to)));
      // The top of a path that never meets `from` is not below it: the default route.
      const expected = oracle > 0 ? rootAddress(bootHost(oracle)) : undefined;
      assert.is(hop, expected, `${what}: from ${from} to ${to}`);
    }
  }
}

suite('bring-up', (test) => {
  test('all come up: progress counts each once', () => {
    const model = play({ hosts: 20, arity: 3 });
    assert.equal(ups(model).map((line) => line.split(' ')[1]), Array.from({ length: 20 }, (_, i) => `${i + 1}/20`));
    assert.equal([model.ready.length, model.ready[0]?.leftOut.size, model.bootstrap.missing], [1, 0, []]);
    check(model, 'well');
  });

  test('abort: a leaf, an inner agent, several at once, all: every failure that can be found, once', () => {
    assert.equal(failed(play({ fate: bad({ h6: ['fail'] }) })), ['h6 refuses']);
    assert.equal(failed(play({ fate: bad({ h0: ['fail'] }) })), ['h0 refuses']);
    assert.equal(failed(play({ fate: bad({ h1: ['fail'], h2: ['fail'], h4: [200] }) })), ['h1 refuses', 'h2 refuses']);
    assert.equal(failed(play({ fate: () => 'fail' })), ['h0 refuses', 'h1 refuses']);
    const late = play({ fate: bad({ h2: ['fail'], h6: [300], h0: [5] }), delayMs: 60 });
    assert.is(new Set(failed(late)).size, failed(late).length);
  });

  test('abort waits for further failures as long as it is told, and no longer than there is anything to learn', () => {
    const early = play({ fate: bad({ h1: ['fail'] }), collectMs: 5000 });
    assert.ok((early.aborted[0]?.atMs ?? 0) < 500, `${early.aborted[0]?.atMs} ms`);
    const late = play({ fate: bad({ h1: ['fail'], h2: ['hang'] }), collectMs: 3000 });
    assert.ok((late.aborted[0]?.atMs ?? 0) >= 3000 && (late.aborted[0]?.atMs ?? 0) < 3200);
    assert.equal(failed(late), ['h1 refuses']);
    const all = play({ fate: bad({ h1: ['fail'], h2: ['hang'] }), collectMs: 2 * HANG_MS });
    assert.equal(failed(all), ['h1 refuses', 'h2 hangs']);
    assert.ok((all.aborted[0]?.atMs ?? 0) < HANG_MS + 500);
  });

  test('retry: a failure that passes is none; one that stays ends it after so many', () => {
    const passes = play({ policy: retry(2), fate: bad({ h0: ['fail', 'hang', 'up'], h5: ['fail', 'up'] }) });
    check(passes, 'passes');
    assert.equal([passes.ready.length, passes.starts.get('h0'), passes.starts.get('h5')], [1, 3, 2]);
    const stays = play({ policy: retry(2), fate: bad({ h3: ['fail'] }) });
    assert.equal([stays.starts.get('h3'), stays.decisions], [3, ['retry', 'retry', 'abort']]);
    assert.equal(failed(stays), ['h3 refuses', 'h3 refuses', 'h3 refuses']);
  });

  test('retry: an inner agent that dies comes up again with all below it; progress goes back and forth', () => {
    const model = play({ hosts: 15, policy: retry(3), fate: bad({ h0: [90, 'up'] }) });
    check(model, 'again');
    assert.is(ups(model).at(-1)?.split(' ')[1], '15/15');
    const last = new Map(ups(model).map((line) => [line.split(' ')[0], line]));
    assert.is(last.size, 15);
  });

  test('spare: takes the place, also of a spare; without one left it ends', () => {
    const model = play({ spares: 3, policy: spare, fate: bad({ h1: ['fail'], s0: ['hang'], h4: ['fail'] }) });
    check(model, 'spares');
    const names = model.ready[0]?.hosts.map(({ name }) => name);
    assert.equal([names?.length, names?.includes('h1'), names?.includes('s0'), names?.includes('h4')],
      [7, false, false, false]);
    const out = play({ spares: 1, policy: spare, fate: bad({ h1: ['fail'], h4: ['fail'] }) });
    assert.is(out.aborted.length, 1);
  });

  test('shrink: orphans are adopted, down to the least number', () => {
    const model = play({ hosts: 15, policy: shrink(1), fate: bad({ h0: ['fail'], h2: ['hang'], h6: ['fail'] }) });
    check(model, 'shrunk');
    assert.equal([...(model.ready[0]?.leftOut ?? [])].sort((a, b) => a - b), [0, 2, 6]);
    assert.is(ups(model).at(-1)?.split(' ')[1], '12/15');
    checkRoutes(model, 'shrunk');
    assert.is(play({ policy: shrink(7), fate: bad({ h3: ['fail'] }) }).aborted.length, 1);
    assert.is(play({ policy: shrink(6), fate: bad({ h3: ['fail'] }) }).ready.length, 1);
    const none = play({ policy: shrink(1), fate: () => 'fail' });
    assert.equal([none.ready.length, none.aborted[0]?.failures.length], [0, 7], 'nobody is left');
  });

  test('whoever takes the place of an inner agent knows who was left out or replaced below it', () => {
    const policy: BootstrapPolicy = { policy: 'mixed',
      decide: ({ host }) => (['h0', 'h1'].includes(host.name) ? 'retry' : host.name === 'h2' ? 'spare' : 'shrink') };
    const fate = bad({ h1: ['hang', 'up'], h0: [600, 'up'], h2: ['fail'], h3: ['fail'] });
    const model = play({ hosts: 15, policy, spares: 2, fate });
    check(model, 'again');
    assert.equal([model.starts.get('h2'), model.starts.get('h3'), model.starts.get('s0')], [1, 1, 2]);
  });

  test('once it is ready, losses are told and nothing is decided; that of one left out is no news', () => {
    const model = play({ policy: shrink(1), fate: bad({ h1: ['fail'] }) });
    const decided = model.decisions.length;
    model.kill(4);
    model.run();
    assert.equal([model.lost, model.decisions.length - decided], [[rootAddress(4)], 0]);
    model.bootstrap.onFailed(rootAddress(1), new Error('late') as never);
    assert.is(model.lost.length, 1);
  });

  test('doubled and late words change nothing', () => {
    const model = play({ policy: retry(1) });
    const before = model.events.length;
    model.bootstrap.onUp(3);
    model.bootstrap.onUp(3);
    assert.equal([model.events.length - before, model.ready.length], [0, 1]);
    const aborted = play({ fate: bad({ h1: ['fail'] }) });
    aborted.bootstrap.stop(() => undefined);
    const told = aborted.events.length;
    aborted.bootstrap.onUp(6);
    aborted.bootstrap.onFailed(rootAddress(2), new Error('late') as never);
    aborted.run();
    assert.equal([aborted.events.length - told, aborted.aborted.length], [0, 1]);
  });

  test('ended in the midst of it, nothing is told any more', () => {
    const model = new BootModel({ hosts: 9, arity: 2, policy: retry(3), fate: bad({ h0: ['fail'] }) }).start().run(40);
    let done = 0;
    model.bootstrap.stop(() => (done += 1));
    const told = model.events.length;
    model.run();
    assert.equal([done, model.events.length - told, model.ready.length, model.aborted.length], [1, 0, 0, 0]);
  });

  test('any mixture of failures and decisions ends, with each host as it is said to be', () => {
    const random = seededIntegers(5);
    const ends = { ready: 0, aborted: 0 };
    for (let seed = 1; seed <= 600; seed++) {
      const hosts = 1 + random(40);
      const fates: Record<string, Fate[]> = {};
      for (let n = random(6); n > 0; n--) {
        const one = (): Fate => (['fail', 'hang', 1 + random(300), 1 + random(300), 'up'] as const)[random(5)] ?? 'up';
        fates[`${random(4) > 0 ? 'h' : 's'}${random(hosts)}`] = [one(), one(), one()];
      }
      const pick = seededIntegers(seed);
      const mixed: BootstrapPolicy = { policy: 'mixed', decide: ({ attempts }, { sparesLeft }) => {
        if (attempts > 4) return 'shrink';
        return (['retry', sparesLeft > 0 ? 'spare' : 'retry', 'shrink'] as const)[pick(3)] ?? 'retry';
      } };
      const policy = [mixed, mixed, mixed, retry(2), spare, shrink(1), abort][random(7)] ?? mixed;
      const model = play({ hosts, arity: 1 + random(4), spares: 3, policy, fate: bad(fates), seed,
        delayMs: [1, 30, 200][random(3)] ?? 1 });
      // What dies after the end is another matter: then the launch need not arrive.
      if (model.lost.length > 0) continue;
      check(model, `seed ${seed}`);
      if (model.ready.length > 0) checkRoutes(model, `seed ${seed}`);
      ends[model.ready.length > 0 ? 'ready' : 'aborted'] += 1;
    }
    assert.ok(ends.ready > 150 && ends.aborted > 30, JSON.stringify(ends));
  });

  test('routes with any hosts left out, of up to 40 and every arity', () => {
    const random = seededIntegers(9);
    for (let round = 0; round < 60; round++) {
      const hosts = 2 + random(39);
      const out = new Set(Array.from({ length: 1 + random(hosts - 1) }, () => `h${random(hosts)}`));
      if (out.size === hosts) continue;
      const model = play({ hosts, arity: 1 + (round % 4), policy: shrink(1), seed: round + 1,
        fate: (name) => (out.has(name) ? 'fail' : 'up') });
      check(model, `round ${round}`);
      checkRoutes(model, `round ${round}`);
      assert.is(model.ready[0]?.leftOut.size, out.size);
    }
  });
});
