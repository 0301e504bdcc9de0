/** Credit of a host on the stream of a job. */

import { assert, suite } from '@stci/testkit';
import { creditBytes } from '../../dist/jobs/job-launch.js';
import { resolved } from '../assembly.js';

const KIB = 1024;

suite('credit of a host', (test) => {
  test('is its share of the window, which all shares together never exceed', () => {
    const { params } = resolved({ 'iof.window': '64MiB' });
    const of = (hosts: number): number => creditBytes(params, hosts);
    assert.equal([of(1), of(16), of(32), of(100_000)], [4096 * KIB, 4096 * KIB, 2048 * KIB, 671]);
    let before = Infinity;
    for (let hosts = 1; hosts < 2000; hosts++) {
      assert.ok(of(hosts) <= before && Number.isInteger(of(hosts)), `${hosts} hosts`);
      assert.ok(hosts * of(hosts) <= 65_536 * KIB, `${hosts} hosts`);
      before = of(hosts);
    }
    assert.throwsCode('STCI_PARAM_INVALID', () => of(200_000));
  });
});
