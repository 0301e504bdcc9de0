/**
 * Requirements on every launcher policy: what the contract of `Launcher` in @stci/interface promises, for every number
 * of hosts up to 64, those around powers of two, and some large ones; for other names; with parameters at their bounds.
 * Pure.
 */

import { ParentTree, checkBootPlan, wholePart } from '@stci/core';
import type { BootTreePlan, Component, HostSpec, Launcher, NoDeps, Position } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { checkCases, type SuiteCall } from '../kit/cases.js';
import { atBounds, checkTexts, paramsOf } from '../kit/component-record.js';
import { less, verify, without, type Contract, type Example } from '../kit/counterexample.js';
import { elsewhere } from '../kit/elsewhere.js';
import { skip } from '../kit/running-test.js';
import { suite } from '../kit/suite.js';

export type LauncherComponent = Component<Launcher, NoDeps>;

export interface LauncherCase {
  /** Used in the names of tests. */
  readonly label: string;
  /** Parameters of the component, by short name, as a user sets them. */
  readonly params?: Readonly<Record<string, string>>;
  /** Names of so many hosts, for a policy that looks at them; default: n0, n1 …. */
  names?(hosts: number): readonly string[];
  /** Most levels below the controller, if the policy answers for it. */
  depthMax?(hosts: number): number;
  /** Most children of an agent, if the policy answers for it. */
  childrenMax?(hosts: number): number;
  /** Numbers of hosts beside 1 to 64; default 1 000 and 10 000. */
  readonly largeSizes?: readonly number[];
}

/** As in the docstring of `Launcher`. */
export const LAUNCHER = {
  framework: 'launcher',
  again: 'launcherExample',
  promises: {
    record: 'The registry takes it; version, help and parameters can be shown; `query` depends on its input only.',
    policy: 'Its policy is named in a few characters that can be printed.',
    tree: 'Its answer is a tree over the hosts: an arity in 1..1024, or the parent of each host, without a cycle.',
    same: 'The same hosts have the same tree, whoever is asked, whatever was asked before, and when.',
    pure: 'The hosts that it is given are not changed.',
    params: 'A parameter with bounds changes some tree.',
    depth: 'The tree has no more levels than the policy says.',
    children: 'No agent has more children than the policy says.',
  },
} as const satisfies Contract<string>;

type Name = keyof typeof LAUNCHER.promises;

/** A counter-example: which promise, over which hosts. */
export interface LauncherExample extends Example<Name> {
  /** So many hosts, n0, n1 …; or their names. */
  readonly hosts?: number | readonly string[];
  readonly params?: Readonly<Record<string, string>>;
  /** Of `depth` and `children`. */
  readonly most?: number;
  /** Of `params`: its name. */
  readonly param?: string;
}

/** Numbers of hosts that are all checked. */
const SMALL_SIZE_MAX = 64;
/** Where another bit is needed. */
const BIT_SIZES = [128, 256, 512, 1024, 2048, 4096].flatMap((size) => [size - 1, size, size + 1]);
/** Whose trees are looked at, no more. */
const HUGE_SIZES = [8191, 8192, 8193, 16_385, 65_537];
/** Powers of odd numbers, whose logarithms are rounded. */
const POWER_SIZES = [81, 100, 125, 216, 243, 343, 625, 729, 2187, 3125];
/** Sizes with parameters at their bounds, and other names. */
const FEW_SIZES = [1, 2, 3, 16, 33, 64];
const MANY_NAMES_SIZE = 1100;
const LARGE_SIZES = [1000, 10_000];
const TEXT = /^[\x21-\x7e]{1,100}$/;
const LARGE = { timeoutMs: 60_000 };

const CALL: SuiteCall<LauncherCase> = {
  suite: 'launcherCompliance',
  framework: 'launcher',
  fields: {
    label: 'text',
    params: 'an object of texts, as a user sets parameters',
    names: 'a function',
    depthMax: 'a function',
    childrenMax: 'a function',
    largeSizes: 'a list of whole numbers, at least 1',
  },
  required: ['label'],
};

/** Defines a suite; for each case, such as each value of a parameter that changes the tree, tests of its own. */
export function launcherCompliance(
  component: LauncherComponent,
  cases: readonly LauncherCase[] = [{ label: 'default' }],
): void {
  checkCases(CALL, component, cases);
  suite(`launcher compliance: ${component.name}`, (test) => {
    test('record', () => launcherExample(component, { promise: 'record' }));
    test('parameters at their bounds', () => {
      const all = atBounds(component, undefined);
      if (all.length === 0) return skip('no parameter has bounds');
      for (const params of all) {
        launcherExample(component, { promise: 'policy', params });
        for (const hosts of [...FEW_SIZES, 1025, 2500]) launcherExample(component, { promise: 'tree', hosts, params });
        for (const promise of ['same', 'pure'] as const) launcherExample(component, { promise, hosts: 18, params });
      }
      for (const param of Object.keys(component.params)) launcherExample(component, { promise: 'params', param });
    }, LARGE);
    for (const one of cases) {
      const { label, params, largeSizes = LARGE_SIZES } = one;
      const sizes = [...Array.from({ length: SMALL_SIZE_MAX }, (_, index) => index + 1), ...BIT_SIZES, ...largeSizes];
      const each = (promise: Name, most?: (hosts: number) => number) => () => {
        for (const size of sizes) {
          const hosts = one.names?.(size) ?? size;
          launcherExample(component, { promise, hosts, ...(params && { params }), ...(most && { most: most(size) }) });
        }
      };
      test(`${label}: policy`, () => launcherExample(component, { promise: 'policy', ...(params && { params }) }));
      for (const promise of ['tree', 'same', 'pure'] as const) test(`${label}: ${promise}`, each(promise), LARGE);
      if (largeSizes === LARGE_SIZES) {
        test(`${label}: tree of many`, () => {
          for (const size of [...POWER_SIZES, ...HUGE_SIZES]) {
            const hosts = one.names?.(size) ?? size;
            launcherExample(component, { promise: 'tree', hosts, ...(params && { params }) });
          }
        }, LARGE);
      }
      if (one.names === undefined) {
        test(`${label}: other names`, () => {
          for (const hosts of FEW_SIZES.flatMap((size) => NAMES.map((name) => namesOf(size, name)))) {
            for (const promise of ['tree', 'same', 'pure'] as const) {
              launcherExample(component, { promise, hosts, ...(params && { params }) });
            }
          }
          for (const name of NAMES) {
            const hosts = namesOf(MANY_NAMES_SIZE, name);
            launcherExample(component, { promise: 'tree', hosts, ...(params && { params }) });
          }
        }, LARGE);
      }
      if (one.depthMax) test(`${label}: depth`, each('depth', (hosts) => one.depthMax?.(hosts) ?? 0), LARGE);
      if (one.childrenMax) {
        test(`${label}: children`, each('children', (hosts) => one.childrenMax?.(hosts) ?? 0), LARGE);
      }
    }
  });
}

/** Checks one example again, such as a counter-example that the suite has printed; throws if it breaks its promise. */
export function launcherExample(component: LauncherComponent, example: LauncherExample): void {
  verify(LAUNCHER, example, (one) => check(component, one), smaller);
}

/** Fewer hosts. What is allowed depends on their number, and is known of this one only. */
function* smaller(example: LauncherExample): Generator<LauncherExample> {
  const { hosts = 1, most } = example;
  if (most !== undefined) return;
  if (typeof hosts === 'number') {
    for (const fewer of less(hosts, 1)) yield { ...example, hosts: fewer };
  } else if (hosts.length > 1) {
    for (const half of [hosts.slice(0, hosts.length / 2), hosts.slice(hosts.length / 2)]) {
      yield { ...example, hosts: half };
    }
    if (hosts.length <= SMALL_SIZE_MAX) for (const fewer of without(hosts)) yield { ...example, hosts: fewer };
  }
}

/** Trees at its bounds differ, for some hosts. */
function checkParam(component: LauncherComponent, name: string): void {
  const sets = atBounds(component, undefined).filter((set) => Object.hasOwn(set, name));
  if (sets.length < 2) return;
  const trees = sets.map((set) => {
    const launcher = component.create({}, Object.freeze({ ...paramsOf(component, set) }), undefined);
    const all = [...FEW_SIZES, 2500]
      .flatMap((size) => [specsOf(size), ...NAMES.map((one) => specsOf(namesOf(size, one)))]);
    return JSON.stringify(all.map((specs) => launcher.tree(specs)));
  });
  assert.ok(trees.some((tree) => tree !== trees[0]), `${name} changes no tree, from its least value to its largest`);
}

function check(component: LauncherComponent, example: LauncherExample): void {
  const { promise, hosts = 1, params, most = Infinity, param } = example;
  if (promise === 'params') return checkParam(component, param ?? '');
  const create = (set = params): Launcher =>
    component.create({}, Object.freeze({ ...paramsOf(component, set) }), undefined);
  if (promise === 'record') {
    checkTexts(component, undefined);
    create();
    return;
  }
  const launcher = create();
  const specs = specsOf(hosts);
  if (promise === 'policy') {
    const before = launcher.policy;
    launcher.tree(specs);
    for (const name of [before, launcher.policy]) assert.ok(TEXT.test(name), `its name is ${JSON.stringify(name)}`);
    return assert.is(launcher.policy, before, 'asked for a tree, it is called otherwise:');
  }
  const ask = (one: Launcher): BootTreePlan => checkBootPlan(one.policy, specs, one.tree(specs));
  if (promise === 'pure') {
    const before = JSON.stringify(specs);
    launcher.tree(specs);
    return assert.ok(JSON.stringify(specs) === before, 'the hosts have changed');
  }
  const plan = elsewhere(() => ask(launcher));
  if (promise === 'tree') firstOf(component, specs, params, plan);
  if (promise === 'same') {
    assert.equal(plan, firstOf(component, specs, params, plan), 'asked at first, it has answered something else');
    const kept = launcher.tree(specs);
    const text = JSON.stringify(kept);
    for (const set of [params, ...atBounds(component, undefined)]) {
      const another = create(set);
      for (const other of othersOf(specs)) {
        const asked = JSON.stringify(launcher.tree(other));
        const isSame = JSON.stringify(create().tree(other)) === asked;
        assert.ok(isSame, `asked about others first, it answers something else about ${other.length} hosts`);
        another.tree(other);
      }
    }
    assert.ok(JSON.stringify(kept) === text, 'the tree that it has answered changes when it is asked about others');
    elsewhere(() => {
      assert.equal(ask(launcher), plan, 'asked again, it answers something else');
      assert.equal(ask(create()), plan, 'another instance answers something else');
    });
  } else if (promise !== 'tree') {
    const found = promise === 'depth' ? depthOf(plan, specs.length) : childrenOf(plan, specs.length);
    assert.ok(found <= most, `${found}, at most ${most} of ${specs.length} hosts`);
  }
}

const firsts = new WeakMap<LauncherComponent, Map<string, BootTreePlan>>();

/** The first answer of all. */
function firstOf(
  component: LauncherComponent, specs: readonly HostSpec[], params: LauncherExample['params'], plan: BootTreePlan,
): BootTreePlan {
  const known = firsts.get(component) ?? new Map<string, BootTreePlan>();
  firsts.set(component, known);
  const key = JSON.stringify([params, specs.length, specs.length <= SMALL_SIZE_MAX ? specs : specs[0]]);
  const first = known.get(key) ?? plan;
  known.set(key, first);
  return first;
}

function specsOf(hosts: number | readonly string[]): HostSpec[] {
  const names = typeof hosts === 'number' ? Array.from({ length: hosts }, (_, host) => `n${host}`) : hosts;
  return names.map((name, host) => ({
    name, slots: host % 11 === 10 ? 256 : 1 + host % 8, slotsBound: host % 3 === 1,
    origin: ORIGINS[host % 7] ?? 'compliance',
    ...(host % 5 === 4 && { user: USERS[host % USERS.length]! }),
  }));
}

const ORIGINS = ['compliance', 'hosts:1', '--host', 'a file:2'];
const USERS = ['u', 'root', 'Some.One-1'];

/** As hosts are called: by racks, by addresses, by words, in no order. */
const NAMES: readonly ((host: number, of: number) => string)[] = [
  (host) => `rack${host % 3}n${host}`,
  (host) => `10.0.${host >> 8}.${host & 255}`,
  (host) => `node${String.fromCharCode(97 + Math.floor(host / 26), 97 + (host % 26))}.example.org`,
  (host, of) => `n${of - host}`,
  (host, of) => (host % 3 === 1 ? `other${of}x${host}` : `n${host}`),
  (host) => `fd00::${(host + 1).toString(16)}`,
  // Words that objects have as well; numbers that are equal once they are rounded.
  (host) => `${WORDS[host % WORDS.length]}${host < WORDS.length ? '' : `9007199254740${host + 1000}`}`,
  (host) => `Node-${host}.${'a-long-label.'.repeat(12)}EXAMPLE`,
];

const WORDS = ['constructor', 'toString', 'valueOf', 'n'];

function namesOf(size: number, name: (host: number, of: number) => string): string[] {
  return Array.from({ length: size }, (_, host) => name(host, size));
}

/** As many with other names, of many hosts with a few of them; fewer, more; now and then many more. */
function othersOf(specs: readonly HostSpec[]): HostSpec[][] {
  const count = specs.length;
  const names = count > MANY_NAMES_SIZE ? NAMES.filter((_, index) => index % 4 === 0) : NAMES;
  const sizes = [Math.max(1, count >> 1), count + 1, ...(count % 16 === 1 ? [10_000] : [])];
  return [...names.map((name) => specsOf(namesOf(count, name))), ...sizes.map(specsOf)];
}

function parentsOf(plan: BootTreePlan, hosts: number): (number | undefined)[] {
  if ('parents' in plan) return [...plan.parents];
  const { arity } = plan;
  return Array.from({ length: hosts }, (_, host) => (host < arity ? undefined : Math.floor(host / arity) - 1));
}

/** Levels below the controller. */
function depthOf(plan: BootTreePlan, hosts: number): number {
  const part = wholePart({ parents: parentsOf(plan, hosts) });
  return 'arity' in part ? 0 : new ParentTree(hosts + 1, part).height;
}

/** Most children of one agent. */
function childrenOf(plan: BootTreePlan, hosts: number): number {
  const counts = new Map<Position | undefined, number>();
  for (const parent of parentsOf(plan, hosts)) counts.set(parent, (counts.get(parent) ?? 0) + 1);
  return Math.max(...counts.values());
}
