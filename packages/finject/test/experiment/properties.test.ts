/**
 * Experiments drawn at random, many of them wrong: each is refused with problems, or its plans obey all of its rules,
 * which are stated here again by other means.
 */

// @timeoutMs 60000
import { assert, suite } from '@stci/testkit';
import { checkExperiment, planRepeats, planText } from '@stci/finject/experiment';
import type { Experiment, FaultEntry, Filter, PlannedInjection, TargetShape } from '@stci/finject/experiment';
import { Draws } from '../../dist/experiment/draws.js';
import { KINDS, makeShape, read } from './make.js';

const EXPERIMENTS = 500;
/** Of each outcome at least so many, else the generator tests little. */
const SHARE_MIN = 0.15;

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

class Generator {
  readonly #draws: Draws;
  readonly shape: TargetShape;

  constructor(seed: number) {
    this.#draws = new Draws(['properties', seed]);
    const hosts = 1 + this.#draws.integer(9);
    this.shape = makeShape(hosts, hosts * (1 + this.#draws.integer(3)), 1 + this.#draws.integer(3));
  }

  #pick<One>(values: readonly One[]): One {
    return values[this.#draws.integer(values.length)]!;
  }

  #maybe(probability: number, key: string, value: () => Value): Record<string, Value> {
    return this.#draws.uniform() < probability ? { [key]: value() } : {};
  }

  /** Mostly one that is there. */
  #rank(): number {
    return this.#draws.integer(this.shape.hostOfRank.length + (this.#draws.uniform() < 0.03 ? 2 : 0));
  }

  #host(): Value {
    const host = this.#draws.integer(this.shape.hosts.length + (this.#draws.uniform() < 0.03 ? 1 : 0));
    return this.#pick<Value>([host, `h${host}`]);
  }

  #choice(): string {
    const count = 1 + this.#draws.integer(3);
    return this.#pick([`random ${count}`, 'random 1', `contiguous ${count}`, `${10 * count}%`, 'all']);
  }

  #who(names: readonly string[]): Value {
    const subject = this.#pick<() => Record<string, Value>>([
      () => ({ ranks: this.#choice() }),
      () => ({ ranks: [this.#rank(), this.#rank()], ...this.#maybe(0.5, 'choose', () => 'random 1') }),
      () => ({ hosts: this.#choice() }),
      () => ({ agents: this.#pick(['root', 'session']), choose: this.#choice() }),
      () => ({ links: this.#choice() }),
    ])();
    const isRanks = 'ranks' in subject;
    return {
      ...subject,
      ...this.#maybe(0.2, 'on', () => [this.#host(), this.#host()]),
      ...this.#maybe(0.1, 'depth', () => 1 + this.#draws.integer(3)),
      ...this.#maybe(0.2, 'not', () => [isRanks ? this.#rank() : this.#host()]),
      ...this.#maybe(0.15, 'same-host-as', () => this.#pick(names)),
      ...this.#maybe(0.15, 'not-of', () => [this.#pick(names)]),
      ...this.#maybe(0.3, 'distinct', () => true),
    };
  }

  #fault(name: string, names: readonly string[], depth = 0): Value {
    const time = (): Value => this.#pick(['1s', '250ms', 'exponential 1s', 'uniform 0 2s', 'weibull 0.7 1s',
      'normal 1s 1s']);
    const common = { name, count: 1 + this.#draws.integer(4), ...this.#maybe(0.2, 'cool-down', () => '300ms') };
    if (depth === 0 && this.#draws.uniform() < 0.2) {
      const parts = [this.#fault('x', names, 1), this.#fault('y', names, 1)];
      return { ...common, kind: this.#pick(['compose', 'sequence']), when: time(), parts };
    }
    const when = depth > 0 ? time() : this.#pick<() => Value>([
      time, () => ({ delay: time(), every: time() }), () => ({ after: 'first detection', delay: time() }),
    ])();
    return { ...common, kind: 'noop', who: this.#who(names), when };
  }

  text(): string {
    const names = ['a', 'b', 'c'].slice(0, 1 + this.#draws.integer(3));
    return JSON.stringify({
      name: 'drawn', target: 'stcirun ./solver', repeats: 1 + this.#draws.integer(3), seed: this.#draws.integer(1000),
      faults: names.map((name) => this.#fault(name, names)),
      'victims-max': this.#pick([3, 10, 100]), 'time-limit': this.#pick(['20s', '5m']),
      ...this.#maybe(0.3, 'keep-alive', () => ({ ranks: [this.#rank()], hosts: [this.#host()] })),
    });
  }
}

interface Accepted {
  readonly experiment: Experiment;
  readonly shape: TargetShape;
}

function draw(seed: number): Accepted | undefined {
  const generator = new Generator(seed);
  const { shape } = generator;
  const file = read(generator.text());
  if (file.experiment === undefined || file.problems.length > 0) {
    assert.ok(file.problems.length > 0, generator.text());
    return undefined;
  }
  const { experiment } = file;
  return checkExperiment(experiment, shape, { kinds: KINDS, place: file.place }).length > 0 ? undefined
    : { experiment, shape };
}

function leaves(faults: readonly FaultEntry[], times = 1): (readonly [FaultEntry, number])[] {
  return faults.flatMap((fault) => (fault.parts.length === 0 ? [[fault, times * fault.count] as const]
    : leaves(fault.parts, times * fault.count)));
}

/** Hosts that keep-alive needs: its own, and those of all agents above them. */
function keptHosts(
  { keepAlive }: Experiment, { hosts, hostOfRank, arity = 1 }: TargetShape,
): [Set<number>, Set<number>] {
  const kept = new Set([...keepAlive.ranks.map((rank) => hostOfRank[rank]!),
    ...keepAlive.hosts.map((host) => (typeof host === 'number' ? host : hosts.indexOf(host)))]);
  const above = new Set(kept);
  for (const host of kept) {
    for (let at = host + 1; at > 0; at = Math.ceil(at / arity) - 1) above.add(at - 1);
  }
  return [kept, above];
}

function hostOf(victim: PlannedInjection['victims'][number], { hostOfRank }: TargetShape): number {
  if (victim.kind === 'rank') return hostOfRank[victim.rank]!;
  if (victim.kind === 'link') return Math.max(...victim.ends) - 1;
  return victim.kind === 'partition' ? NaN : victim.host;
}

function checkVictims(injection: PlannedInjection, entry: FaultEntry, { experiment, shape }: Accepted): void {
  const who = entry.who as Filter;
  const { victims } = injection;
  const { choice } = who;
  assert.ok(victims.length > 0);
  assert.is(new Set(victims.map((victim) => JSON.stringify(victim))).size, victims.length);
  if (choice.pick === 'random' || choice.pick === 'contiguous') assert.is(victims.length, choice.count);
  const [kept, above] = keptHosts(experiment, shape);
  for (const victim of victims) {
    const host = hostOf(victim, shape);
    assert.ok(who.on === 'all' || who.on.some((ref) => ref === host || ref === `h${host}`));
    const number = victim.kind === 'rank' ? victim.rank : host;
    assert.not.ok(who.not.some((ref) => ref === number || ref === `h${number}`));
    const isNeeded = victim.kind === 'agent' && victim.role === 'session' ? kept.has(host) : above.has(host);
    if (victim.kind === 'rank') {
      const named = experiment.keepAlive.hosts.some((ref) => ref === host || ref === `h${host}`);
      assert.not.ok(experiment.keepAlive.ranks.includes(victim.rank) || named);
    } else {
      assert.not.ok(isNeeded);
    }
  }
}

function checkPlan(accepted: Accepted, injections: readonly PlannedInjection[], repeat: number): void {
  const { experiment, shape } = accepted;
  const of = (name: string): PlannedInjection[] => injections.filter(({ fault }) => fault === name);
  const keys = (name: string): string[] => of(name).flatMap(({ victims }) => victims.map((one) => JSON.stringify(one)));
  const entries = leaves(experiment.faults);
  assert.equal(injections.map(({ fault }) => fault), entries.flatMap(([{ name }, count]) =>
    Array.from({ length: count }, () => name)));
  const victims = new Set(entries.flatMap(([{ name }]) => keys(name)));
  assert.ok(victims.size <= experiment.victimsMax);
  for (const [entry] of entries) {
    const who = entry.who as Filter;
    for (const [at, { id }] of of(entry.name).entries()) assert.is(id, `${repeat}.${entry.name}.${at + 1}`);
    for (const other of who.notOf) {
      if (other === entry.name) assert.is(new Set(keys(other)).size, keys(other).length);
      else assert.not.ok(keys(entry.name).some((key) => keys(other).includes(key)));
    }
    for (const [at, injection] of of(entry.name).entries()) {
      checkVictims(injection, entry, accepted);
      assert.ok(injection.delayMs >= 0);
      assert.is(injection.atMs !== undefined,
        injection.follows === undefined && injection.trigger.on === 'event' && injection.trigger.event === 'start');
      const { follows } = injection;
      if (follows !== undefined) assert.ok(injections.some(({ id }) => id === follows.id && id !== injection.id));
      if (who.sameHostAs === undefined) continue;
      const near = of(who.sameHostAs)[at]!.victims.flatMap((victim) =>
        (victim.kind === 'link' ? victim.ends.map((end) => end - 1) : [hostOf(victim, shape)]));
      assert.ok(injection.victims.every((victim) => near.includes(hostOf(victim, shape))));
    }
  }
}

suite('experiments drawn at random', (test) => {
  test('are refused, or their plans obey their rules', () => {
    let accepted = 0;
    for (let seed = 0; seed < EXPERIMENTS; seed++) {
      const drawn = draw(seed);
      if (drawn === undefined) continue;
      accepted += 1;
      const plans = planRepeats(drawn.experiment, drawn.shape);
      assert.is(plans.length, drawn.experiment.repeats);
      for (const { repeat, injections } of plans) checkPlan(drawn, injections, repeat);
      assert.equal(planRepeats(draw(seed)!.experiment, drawn.shape), plans);
      assert.ok(planText(drawn.experiment, drawn.shape, plans).length > 0);
    }
    const share = accepted / EXPERIMENTS;
    assert.ok(share > SHARE_MIN && share < 1 - SHARE_MIN, `${accepted} of ${EXPERIMENTS} accepted`);
  }, { timeoutMs: 50_000 });
});
