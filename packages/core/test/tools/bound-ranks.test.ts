/** The processors of a job's ranks at its session agent. */

import type { Params } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { BoundRanks } from '../../dist/tools/bound-ranks.js';
import { systemOf } from '../binding/synthetic.js';

const TWO = systemOf({ sockets: 1, coresPerCache: 2 });

function bound(to: string, ranks: number, { report = false, cpus = 0, system = TWO } = {}): BoundRanks {
  const params = {
    string: (name: string) => (name === 'binding.to' ? to : 'auto'), int: () => cpus, bool: () => report,
  } as unknown as Params;
  return new BoundRanks({ systemText: (path) => system.get(path) }, params, 'a', ranks);
}

const placement = (rank: number, localRank: number) => ({ rank, localRank, host: 0, app: 0 });
const text = (bytes?: Uint8Array): string | undefined => bytes && Buffer.from(bytes).toString();

suite('bound ranks', (test) => {
  test('each has its place among those of the host, and keeps it; one too many goes without', () => {
    const ranks = bound('core', 1, { report: true });
    assert.equal([ranks.of(placement(5, 0))?.cpus, ranks.of(placement(9, 1))?.cpus, ranks.of(placement(5, 0))?.cpus],
      ['0', '1', '0']);
    assert.equal([ranks.of(placement(7, 2)), ranks.of(undefined)], [undefined, undefined]);
    assert.is(text(ranks.report(placement(9, 1))), '[a] rank 9 bound to socket 0[core 1[hwt 0]]: [./B]\n');
    assert.is(text(ranks.report(placement(7, 2))), '[a] rank 7 is not bound\n');
    assert.is(bound('core', 1).report(placement(5, 0)), undefined);
  });

  test('nothing is asked for: the host is not looked at', () => {
    const unread = { get: () => assert.unreachable('it reads') } as unknown as Map<string, string>;
    const ranks = bound('auto', 9, { system: unread });
    assert.equal([ranks.error, ranks.of(placement(0, 0))], [undefined, undefined]);
  });

  test('what cannot be is an error that names the host', () => {
    const { error } = bound('core', 3);
    assert.equal([error?.code, error?.host], ['STCI_BINDING_IMPOSSIBLE', 'a']);
    assert.is(bound('none', 1, { cpus: 2 }).error?.code, 'STCI_PARAM_INVALID');
  });
});
