/** What a session agent tells of its tools: in as many messages as it takes, each answered by its number. */

import { assert, suite } from '@stci/testkit';
import { ToolReports } from '../../dist/tools/tool-reports.js';
import type { ToolEnd } from '../../dist/tools/tool.js';
import { encode } from '../../dist/codec/cbor.js';

const BYTES_MAX = 64 * 1024;

suite('reports of tools', (test) => {
  test('attempts that others follow go in messages that can be sent, and each knows the number of its own', () => {
    const told: number[][] = [];
    const send = (_to: number, name: string, body: { readonly ranks: readonly { readonly rank: number }[] }): void => {
      assert.is(name, 'job.restarting');
      assert.ok(encode(body).length <= BYTES_MAX);
      told.push(body.ranks.map(({ rank }) => rank));
    };
    const waiting: (() => void)[] = [];
    const counted: string[] = [];
    const reports = new ToolReports({
      node: { messages: { send }, params: { int: () => BYTES_MAX } } as never,
      host: 0, hostName: 'a', metrics: { count: (name) => void counted.push(name) },
      afterNews: (call) => void waiting.push(call),
    });
    const error = { code: 'STCI_PROGRAM_NOT_FOUND', message: 'x'.repeat(100) } as const;
    const numbers = Array.from({ length: 1500 }, (_, rank) => {
      const end = { rank, pid: 9, outcome: 'failed-start', error, endWallMs: 1e12, leftovers: 0, attempt: 1 } as const;
      return reports.followed(end satisfies ToolEnd, 500);
    });
    for (const call of waiting) call();
    assert.ok(told.length > 3);
    assert.equal(told.flatMap((ranks, i) => ranks.map(() => i + 1)), numbers);
    assert.equal(told.flat(), [...numbers.keys()]);
    assert.equal([counted.length, ...new Set(counted)], [1500, 'restarts']);
    assert.equal([reports.isNoted(0), reports.isNoted(1)], [true, false]);
    reports.onNoted();
    assert.equal([reports.isNoted(1), reports.isNoted(2)], [true, false]);
  });
});
