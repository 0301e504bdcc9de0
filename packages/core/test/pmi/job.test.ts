/** What the controller makes of what agents tell of their libraries. */

import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { JobPmi, SessionPmi } from '../../dist/pmi/job-pmi.js';
import type { JobAtController } from '../../dist/service/contracts.js';

suite('a job of MPI programs', (test) => {
  /** Ranks 0 and 1 on host 0, rank 2, which rank 0 has spawned, on host 1. */
  function job() {
    const told: (readonly [string, object])[] = [];
    const spawns = [{ parent: 0, first: 2, count: 1, app: 0 }];
    const of = {
      job: 1, params: { list: () => ['notify'] }, holds: new Scope('job'),
      front: { check: () => undefined, emit: () => undefined },
      ledger: {
        map: { size: 3, hosts: [] }, spawns, rankReport: () => undefined,
        placements: { host: (rank: number) => (rank < 2 ? 0 : 1) },
      },
      node: {
        sessionName: 's', tokenOf: () => 'token',
        messages: { sendSubtree: (name: string, body: object) => void told.push([name, body]) },
      },
    } as unknown as JobAtController;
    return { told, pmi: new JobPmi(of, new SessionPmi()) };
  }

  test('has events in the name of ranks by their own agents alone', () => {
    const { told, pmi } = job();
    const event = new Uint8Array(0);
    pmi.onNotify({ host: 1, rank: 2, status: -1, event });
    assert.equal(told, [['pmi.event', { rank: 2, nspace: 's-1-token-2', process: 0, status: -1, event }]]);
    for (const rank of [0, 3]) {
      assert.throws(() => pmi.onNotify({ host: 1, rank, status: -1, event }), /Expected ranks of host 1/);
    }
    assert.is(told.length, 1);
  });
});
