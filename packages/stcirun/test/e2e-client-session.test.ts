/** Messages and collectives of jobs in a session: its agents serve one job after the other, with no front-end too. */
// @timeoutMs 300000

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { LONG, withPlace } from './e2e-place.js';

const DIRECTORY = fileURLToPath(new URL('../../client/dist-test/', import.meta.url));

/** Rank 0 begins when there is a file. Each sends to the next, short and long; then all add, and gather. */
const TALK = `
import { existsSync } from 'node:fs';
import { connect } from '@stci/client';
const stci = await connect();
const { rank, size } = stci;
while (rank === 0 && !existsSync(process.argv[2])) await new Promise((resolve) => setTimeout(resolve, 20));
const to = (rank + 1) % size;
const sent = [stci.send(to, new Uint8Array(2_000_000), { tag: 'long' }), stci.send(to, rank, { tag: 'short' })];
const { from, value } = await stci.receive({ tag: 'short' });
const long = await stci.receive({ tag: 'long' });
await Promise.all(sent);
const sum = await stci.allReduce(rank, (a, b) => a + b);
const all = await stci.gather(from === value && long.value.length === 2_000_000);
if (rank === 0) console.log(size, sum, all.every((isRight) => isRight));
stci.close();
`;

suite('programs in a session', (test) => {
  test('one job, one after it, two at once; and one that is attached to while it talks', withPlace(async (place) => {
    const directory = mkdtempSync(join(DIRECTORY, 'session-'));
    try {
      const program = join(directory, 'talk.mjs');
      writeFileSync(program, TALK);
      const talk = (go: string): string[] => ['--client', process.execPath, program, go];
      const wanted = (size: number): string => `${size} ${(size * (size - 1)) / 2} true\n`;
      place.start('night');
      for (let i = 0; i < 2; i++) {
        const { exitCode, out, err } = await place.run('night', talk(program)).result;
        assert.equal([exitCode, err], [0, '']);
        assert.is(out, wanted(Number(out.split(' ')[0])));
      }
      const both = await Promise.all([1, 2].map(() => place.run('night', ['-n', '2', ...talk(program)]).result));
      assert.equal(both.map(({ exitCode, out }) => [exitCode, out]), [[0, wanted(2)], [0, wanted(2)]]);
      const go = join(directory, 'go');
      const detached = await place.run('night', ['--detach', ...talk(go)]).result;
      assert.equal([detached.exitCode, detached.out], [0, 'night.5\n'], detached.err);
      writeFileSync(go, '');
      const attached = place.stci('attach', 'night.5');
      assert.equal([attached.exitCode, attached.out], [0, wanted(Number(attached.out.split(' ')[0]))], attached.err);
    } finally {
      rmSync(directory, { recursive: true });
    }
  }), LONG);
});
