/** Checks of numbers in boot details and launch messages, which come from another agent. */

import { mapJob } from '@stci/core';
import type { AgentPlace } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { checkLaunch, type LaunchNumbers } from '../../dist/job/launch-check.js';
import { decodeBootDetails, encodeBootDetails, type BootDetails } from '../../dist/launcher/boot-details.js';
import type { HostStart } from '../../dist/launcher/host-login.js';
import { LIMITS, app, hosts, job } from '../job-help.js';

const DETAILS: BootDetails = {
  host: 1, hosts: 3, tree: { arity: 2 }, connect: [], params: new Uint8Array([1]), outlivesParent: true,
  subtree: [[1, 'b', '', 1], [2, 'c', 'u', 1]],
};
const LAUNCH: LaunchNumbers = { size: 4, nodes: 2, apps: [1, 2], hosts: [[7, 1, [[0, 1, 1, 1], [1, 2, 2, 1]]]] };

suite('numbers that an agent starts by', (test) => {
  test('boot details that cannot be are refused', () => {
    const { params, ...rest } = decodeBootDetails(encodeBootDetails(DETAILS));
    assert.equal({ ...rest, params: Uint8Array.from(params) }, DETAILS);
    const bad: readonly (readonly [Partial<BootDetails>, string])[] = [
      [{ host: 3 }, 'an integer in 0..2 at boot details.host, got 3'],
      [{ hosts: 0 }, 'boot details.hosts, got 0'],
      [{ hosts: 0xffff_ffff }, 'boot details.hosts, got 4294967295'],
      [{ tree: { arity: 0 } }, 'boot details.tree.arity, got 0'],
      [{ subtree: [] }, 'boot details.subtree.length, got 0'],
      [
        { subtree: [[1, 'b', '', 1], [2, 'c', '', 1], [2, 'd', '', 1]] },
        'an integer in 1..2 at boot details.subtree.length, got 3',
      ],
      [{ subtree: [[1, 'b', '', 1], [3, 'c', '', 1]] }, 'an integer in 1..2 at boot details.subtree, got 3'],
      [{ subtree: [[2, 'c', '', 1]] }, 'boot details.subtree[0], got 2'],
      [{ host: -1 }, 'boot details.host, got -1'],
      [{ tree: { arity: 1.5 } }, 'boot details.tree.arity, got 1.5'],
    ];
    for (const [part, words] of bad) {
      const bytes = encodeBootDetails({ ...DETAILS, ...part });
      assert.match(assert.throwsCode('STCI_MESSAGE_INVALID', () => decodeBootDetails(bytes)).message, words);
    }
  });

  test('where an agent waits, or why it does not, is part of the login of its host', () => {
    const key = new Uint8Array(32).fill(7);
    const place = { addresses: ['tls://10.0.0.2:40000'], key };
    const of = (start: object): BootDetails =>
      ({ ...DETAILS, subtree: [DETAILS.subtree[0]!, [2, 'c', 'u', 1, start as HostStart]] });
    const passed = (start: object): object => decodeBootDetails(encodeBootDetails(of(start))).subtree[1]?.[4] ?? {};
    const got = passed(place) as AgentPlace;
    assert.equal({ ...got, key: Uint8Array.from(got.key) }, place);
    assert.is((passed({ ...place, orStart: true }) as { orStart?: boolean }).orStart, true);
    assert.equal(passed({ reason: 'it is drained' }), { reason: 'it is drained' });
    const bad: readonly (readonly [object, string])[] = [
      [{ ...place, key: key.slice(1) }, 'a key of 32 bytes, got 31, at boot details.subtree[1][4]'],
      [{ ...place, addresses: [] }, '1 to 64 addresses, got 0'],
      [{ ...place, addresses: Array.from({ length: 65 }, () => 'tls://a:1') },
        'an array of at most 64 at boot details.subtree[1][4].addresses, got 65'],
      [{ ...place, addresses: [3] }, 'a string at boot details.subtree[1][4].addresses[0], got 3'],
      [{ ...place, orStart: 1 }, 'a boolean at boot details.subtree[1][4].orStart, got 1'],
      [{ reason: 3 }, 'a string at boot details.subtree[1][4].reason, got 3'],
      [{}, 'an array at boot details.subtree[1][4].addresses, got undefined'],
    ];
    for (const [start, words] of bad) {
      const bytes = encodeBootDetails(of(start));
      assert.match(assert.throwsCode('STCI_MESSAGE_INVALID', () => decodeBootDetails(bytes)).message, words);
    }
  });

  test('a part of a boot tree by parents passes, or is refused', () => {
    const tree = { planned: 5, parents: [1, 4, 0, 1, 3, 1] };
    const details: BootDetails = { ...DETAILS, hosts: 6, tree, subtree: [[1, 'b', '', 1], [0, 'a', '', 1]] };
    assert.equal(decodeBootDetails(encodeBootDetails(details)).tree, tree);
    const late: BootDetails = { ...details, host: 5, tree: { planned: 5, parents: [] }, subtree: [[5, 'f', '', 1]] };
    assert.is(decodeBootDetails(encodeBootDetails(late)).host, 5);
    const bad: readonly (readonly [object, string])[] = [
      [{ tree: {} }, 'an arity or the parents of hosts at boot details.tree'],
      [{ tree: { planned: 5 } }, 'an arity or the parents of hosts at boot details.tree'],
      [{ tree: { ...tree, planned: 7 } }, 'boot details.tree.planned, got 7'],
      [{ tree: { ...tree, parents: [1, 5] } }, 'an integer in 0..4 at boot details.tree.parents, got 5'],
      [{ tree: { ...tree, parents: [1] } }, 'boot details.tree.parents.length, got 1'],
      [{ tree: { ...tree, parents: [1, 2, 1, 3] } }, 'boot details.tree.parents.length, got 4'],
      [{ tree: { ...tree, parents: [1, 2, 2, 1] } }, 'no cycle at boot details.tree.parents'],
      [{ tree: { ...tree, parents: [1, 1] } }, 'no cycle at boot details.tree.parents'],
      [{ subtree: [[1, 'b', '', 1], [4, 'e', '', 1]] }, 'hosts at and below 1 at boot details.subtree, got 4'],
    ];
    for (const [part, words] of bad) {
      const bytes = encodeBootDetails({ ...details, ...part } as BootDetails);
      assert.match(assert.throwsCode('STCI_MESSAGE_INVALID', () => decodeBootDetails(bytes)).message, words);
    }
  });

  test('every part of a mapped job passes', () => {
    for (const mapBy of [{ by: 'slot' }, { by: 'node' }, { by: 'ppr', perHost: 3 }] as const) {
      const apps = [app(mapBy.by === 'ppr' ? 9 : 7), app(mapBy.by === 'ppr' ? 9 : 2)];
      const map = mapJob(job({ apps, hosts: hosts('a~2 b~3 c~1'), mapBy }), LIMITS);
      for (const { host, runs } of map.hosts) {
        const rows = runs.map(({ app: index, first, count, stride }) => [index, first, count, stride] as const);
        const launch = { size: map.size, nodes: 3, apps, hosts: [[host, host, rows]] } as const;
        assert.not.throws(() => checkLaunch(launch, LIMITS));
      }
    }
  });

  test('a part of a job that cannot be is refused', () => {
    checkLaunch(LAUNCH, LIMITS);
    const run = (app: number, first: number, count: number, stride: number): Partial<LaunchNumbers> =>
      ({ hosts: [[7, 1, [[app, first, count, stride]]]] });
    const limits = { ranksMax: 100, ranksPerHostMax: 2 };
    const bad: readonly (readonly [Partial<LaunchNumbers>, string])[] = [
      [{ size: 0 }, 'ranks of the job in 1..100 in job.launch, got 0'],
      [{ size: 101 }, 'ranks of the job'],
      [{ nodes: 1 }, 'number of the host in 0..0'],
      [run(2, 0, 1, 1), 'program in 0..1 in job.launch, got 2'],
      [run(0, 0, 0, 1), 'ranks of a run'],
      [run(0, 0, 3, 1), 'ranks of a run in 1..2'],
      [run(0, 0, 0xffff_ffff, 1), 'ranks of a run'],
      [run(0, 0, 2, 0), 'stride'],
      [run(0, 3, 2, 1), 'last rank of a run in 0..3 in job.launch, got 4'],
      [run(0, 0xffff_ffff, 2, 4), 'last rank of a run'],
      [{}, 'ranks of the host in 0..2 in job.launch, got 3'],
    ];
    for (const [part, words] of bad) {
      const wrong = (): void => checkLaunch({ ...LAUNCH, ...part }, limits);
      assert.match(assert.throwsCode('STCI_MESSAGE_INVALID', wrong).message, words);
    }
  });
});
