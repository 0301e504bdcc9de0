/** Orders of faults: arguments of a kind, and what the terms of an experiment permit. */

import type { ExperimentTerms, FaultVictim, ParamSpecs } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { completeFaultArgs } from '@stci/core/component';
import { termsProblem, victimKey } from '../../dist/fault/terms.js';

const SPECS: ParamSpecs = {
  count: { type: 'int', default: 2, min: 1, max: 9, help: '' },
  mode: { type: 'enum', default: 'x', values: ['x', 'y'], help: '' },
};

const TERMS: ExperimentTerms = {
  leaseMs: 1000, ownsSession: false, allow: [], victimsMax: 2, keepRanks: [7], keepHosts: [],
};

/** A chain: host 0 below the controller, 1 below 0, … Rank 7 runs on host 2. */
const PLACE = {
  hosts: 5,
  hostsOf: (rank: number) => (rank === 7 ? [2] : [0]),
  pathOf: (host: number) => Array.from({ length: host + 2 }, (_, i) => host + 1 - i),
};

const problem = (victim: FaultVictim, terms: Partial<ExperimentTerms> = {}, hit: string[] = []): string | undefined =>
  termsProblem({ victim, job: 1 }, { ...TERMS, ...terms }, PLACE, new Set(hit));

suite('orders of faults', (test) => {
  test('arguments: defaults, unknown ones with the nearest, values out of bounds', () => {
    assert.equal(completeFaultArgs('k', SPECS, { mode: 'y' }), { args: { count: 2, mode: 'y' } });
    assert.equal(completeFaultArgs('k', SPECS, { coutn: 1 }),
      { problem: 'fault k has no argument coutn; it has count, mode. Did you mean count?' });
    assert.equal(completeFaultArgs('k', SPECS, { count: 10 }),
      { problem: 'argument count of fault k: 10 is more than 9; expected an integer, within 1..9' });
    assert.equal(completeFaultArgs('k', SPECS, { mode: 'z' }),
      { problem: "argument mode of fault k: 'z' is not one of the values; expected one of x|y" });
    assert.equal(completeFaultArgs('k', {}, { constructor: 1 }),
      { problem: 'fault k has no argument constructor; it has no arguments.' });
  });

  test('a kept rank keeps its host, the agents above it and the links between', () => {
    const isRefused = (victim: FaultVictim): boolean => problem(victim) !== undefined;
    const root = (host: number): FaultVictim => ({ kind: 'agent', role: 'root', host });
    assert.equal([0, 1, 2, 3, 4].map((host) => isRefused({ kind: 'host', host })), [true, true, true, false, false]);
    assert.equal([0, 1, 2, 3].map((host) => isRefused(root(host))), [true, true, true, false]);
    const session = (host: number): FaultVictim => ({ kind: 'agent', role: 'session', host });
    assert.equal([1, 2].map((host) => isRefused(session(host))), [false, true]);
    const links = [[0, 1], [3, 2], [3, 4], [0, 3]] as const;
    assert.equal(links.map((ends) => isRefused({ kind: 'link', ends })), [true, true, false, false]);
    const parts = [[[0, 1, 2, 3], [4, 5]], [[0, 1], [2, 3, 4, 5]], [[0, 1], [1, 2, 3]]];
    assert.equal(parts.map((sets) => isRefused({ kind: 'partition', sets })), [false, true, false]);
    assert.match(problem({ kind: 'rank', rank: 7 }) ?? '', /^rank 7 is to be kept/u);
  });

  test('victims are counted once, however they are named', () => {
    const link = (a: number, b: number): FaultVictim => ({ kind: 'link', ends: [a, b] });
    assert.is(victimKey({ victim: link(4, 5), job: 1 }), victimKey({ victim: link(5, 4), job: 2 }));
    const hit = [victimKey({ victim: link(4, 5), job: 1 }), 'another'];
    assert.is(problem(link(5, 4), {}, hit), undefined);
    assert.match(problem({ kind: 'rank', rank: 1 }, {}, hit) ?? '', /^it would be victim 3, .* may have 2/u);
  });

  test('hosts that there are not, roles that are not permitted', () => {
    assert.match(problem({ kind: 'partition', sets: [[0, 6]] }) ?? '', /^host 5 is none of the session, which has 5/u);
    for (const role of ['controller', 'front-end'] as const) {
      assert.match(problem({ kind: 'agent', role, host: 0 }) ?? '', new RegExp(`needs its ${role}`, 'u'));
      assert.is(problem({ kind: 'agent', role, host: 0 }, { allow: [role] }), undefined);
    }
  });
});
