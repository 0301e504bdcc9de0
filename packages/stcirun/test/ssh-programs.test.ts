/** What takes part on several hosts: programs in three languages over slow, broken and cut links; in a session. */
// @timeoutMs 300000
// @sameFor node: ssh and hosts; for Node programs' sockets are those of e2e-client-messages.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';
import { LoginSide } from './ssh-jobs.js';

const CLIENT = fileURLToPath(new URL('../../client/', import.meta.url));
const BIN = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
const why = whyNoHosts();
const LONG = { timeoutMs: 90_000 };

const HEAD = `import { connect } from '@stci/client';
const stci = await connect();
const { rank, size } = stci;
`;

/** Calls of all kinds; what it has in the end is said by rank 0 alone, so that all must have it. */
const ALL = `
const MIB = 1024 * 1024;
const next = (rank + 1) % size;
const sends = [stci.send(next, new Uint8Array(8 * MIB).fill(rank), { tag: 'long' })];
for (let i = 0; i < 100; i++) sends.push(stci.send((rank + i) % size, i, { tag: 'n' }));
let sum = 0;
for (let i = 0; i < 100; i++) sum += (await stci.receive({ tag: 'n' })).value;
const { from, value } = await stci.receive({ tag: 'long' });
const isRight = value.length === 8 * MIB && value[0] === from && value[8 * MIB - 1] === from;
await Promise.all(sends);
const all = await stci.allReduce(sum, (a, b) => a + b);
const told = await stci.broadcast(rank === 1 ? 'told' : '', 1);
await stci.put('key' + rank, rank);
await stci.exchange();
const stream = await stci.openStream({ topology: 'bmg', root: 2, tag: 's', combine: (a, b) => a + b });
for (let i = 0; i < 20; i++) {
  if (rank === 2) await stream.multicast(i);
  else if (await stream.receive() !== i) console.error('order');
}
const count = await stream.reduce(1);
const rest = await stci.gather([isRight, told, await stci.get('key' + next), count ?? 0], 0);
if (rank === 0) console.log(JSON.stringify([all, rest]));
`;
const WANTED = (size: number): string => `${JSON.stringify([4950 * size, Array.from({ length: size }, (_, rank) =>
  [true, 'told', (rank + 1) % size, rank === 2 ? size : 0])])}\n`;

/** Ranks meet again and again; what each says of a meeting must be the same at all. */
const MEET = `
stci.onFailure(({ ranks, reason }) => console.log('lost', rank, ranks.join(), reason));
await stci.barrier();
console.log('up', rank);
if (rank === 0) await new Promise((resolve) => process.stdin.once('data', resolve));
const pending = stci.receive({ from: 3 }).catch(({ code }) => code);
const stream = await stci.openStream({ topology: 'tree:arity=1', tag: 's' }).catch(({ code }) => code);
for (let round = 0; round < 3; round++) {
  const sum = await stci.allReduce(1, (a, b) => a + b).catch(({ code, message }) => code + ' ' + message);
  console.log('round', round, rank, sum);
}
const streamed = typeof stream === 'string' ? stream : await (rank === 0 ? stream.multicast(1) : stream.receive())
  .then(() => 'told', ({ code }) => code);
const { ranks } = await stci.shrink();
await stci.send(ranks[(ranks.indexOf(rank) + 1) % ranks.length], rank, { tag: 'on' });
await stci.receive({ tag: 'on' });
console.log('on', rank, ranks.join(), await stci.allReduce(1, (a, b) => a + b), await pending, streamed);
process.stdin.destroy();
`;

const LOST = new RegExp(' STCI_CLIENT_RANK_LOST allReduce\\(\\), the \\S+ collective: rank 3 on host h4: '
  + 'Agent root:3 on host h4 is lost: no data for');

/** Each tells its right neighbour where it is, and all what they were told. */
const RING = `
await stci.send((rank + 1) % size, 'node on ' + stci.host, { tag: 'ring' });
const { value } = await stci.receive({ from: (rank + size - 1) % size, tag: 'ring' });
await stci.put('told.' + rank, value);
await stci.exchange();
const all = await stci.allGather(value);
if (rank === 0) console.log(all.map((one) => typeof one === 'string' ? one : Buffer.from(one).toString()).join());
await stci.barrier();
`;
const RING_C = `#include <stci.h>
int main(void) {
  stci job;
  stci_message m;
  stci_parts parts;
  char text[200];
  if (stci_connect(&job, 60000) != STCI_OK) return 1;
  snprintf(text, sizeof text, "c on %s", job.host);
  if (stci_send(&job, (job.rank + 1) % job.size, "ring", text, strlen(text)) != STCI_OK) return 2;
  if (stci_receive(&job, (job.rank + job.size - 1) % job.size, "ring", 60000, &m) != STCI_OK) return 3;
  snprintf(text, sizeof text, "told.%d", job.rank);
  if (stci_put(&job, text, m.data, m.bytes) != STCI_OK || stci_exchange(&job) != STCI_OK) return 4;
  if (stci_allgather(&job, m.data, m.bytes, &parts) != STCI_OK || parts.count != job.size) return 5;
  if (stci_barrier(&job) != STCI_OK) return 6;
  stci_close(&job);
  return 0;
}
`;
const RING_SH = `set -e
size=$(stci-client size)
stci-client send $(((STCI_RANK + 1) % size)) --tag ring "sh on $STCI_HOST"
told=$(stci-client recv --from $((STCI_RANK - 1)) --tag ring)
stci-client put "told.$STCI_RANK" "$told"
stci-client exchange
stci-client allgather "$told" --lines >&2
stci-client barrier`;

suite('programs on hosts', (test) => {
  let hosts: Hosts;
  let login: LoginSide;
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    const ownHomes = ['h2', 'h3', 'h4', 'h5'].map((host) => [host, ['private-home']] as const);
    hosts = await up(5, { traits: Object.fromEntries(ownHomes) });
    login = new LoginSide(hosts);
  }, LONG);
  test.after(() => hosts?.down(), LONG);

  const HOSTS = ['--launcher', 'ssh', '--host', 'h1,h2,h3,h4,h5'];
  const FIVE = ['--client', ...HOSTS, '-n', '5'];
  const CHAIN = ['--mca', 'launcher.tree.arity=1'];

  async function withProgram(text: string, body: (argv: readonly string[]) => Promise<void>): Promise<void> {
    const path = join(CLIENT, `dist-test/hosts-${process.pid}.mjs`);
    writeFileSync(path, HEAD + text);
    try {
      await body([process.execPath, path]);
    } finally {
      rmSync(path);
    }
  }

  check('each call over a chain with a slow host, whose links break meanwhile', () => withProgram(ALL, async (argv) => {
    await hosts.slow('h3', 100_000);
    const job = login.start(...FIVE, ...CHAIN, ...argv);
    for (let i = 0; i < 3; i++) {
      // eslint-disable-next-line no-restricted-syntax -- cuts spread over the run
      await new Promise((resolve) => setTimeout(resolve, 500));
      await hosts.cut('h4');
      // eslint-disable-next-line no-restricted-syntax -- a cut lasts so long
      await new Promise((resolve) => setTimeout(resolve, 250));
      await hosts.mend('h4');
    }
    await job.ended();
    await hosts.slow('h3', undefined);
    assert.equal([job.code, job.out, job.err], [0, WANTED(5), '']);
  }));

  check('a host that is cut off in a collective: one outcome, told to all, who go on', () => withProgram(MEET, cutOff));

  async function cutOff(argv: readonly string[]): Promise<void> {
    const policy = ['--on-failure', 'continue', '--mca', 'bootcom.lease=4s'];
    const job = login.start(...FIVE, ...CHAIN, ...policy, '--stdin', '0', ...argv);
    await job.has(5, /^up/);
    await hosts.cut('h4');
    job.child.stdin?.end('go\n');
    await job.ended();
    await hosts.mend('h4');
    assert.is(job.code, 200, job.err);
    const said = (head: string): string[] => job.lines.filter((line) => line.startsWith(head)).sort();
    for (const [round, pattern] of [[0, / (5|STCI_CLIENT_RANK_LOST .*)$/], [1, LOST], [2, LOST]] as const) {
      const outcomes = said(`round ${round} `).map((line) => line.replace(/^(\S+ ){3}/, ''));
      assert.equal([outcomes.length, new Set(outcomes).size], [4, 1], job.out);
      assert.match(` ${outcomes[0]}`, pattern);
    }
    assert.equal(said('lost').map((line) => line.slice(0, 25)),
      [0, 1, 2, 4].map((rank) => `lost ${rank} 3 Agent root:3 on `));
    assert.equal(said('on').map((line) => line.replace(/ \S+$/, '')),
      [0, 1, 2, 4].map((rank) => `on ${rank} 0,1,2,4 4 STCI_CLIENT_RANK_LOST`));
    await login.nothingLeft();
  }

  check('programs in three languages, in a session', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-mixed-'));
    try {
      writeFileSync(join(directory, 'ring.c'), RING_C);
      execFileSync('cc', ['-I', join(CLIENT, 'include'), join(directory, 'ring.c'), '-o', join(directory, 'ring')]);
      chmodSync(directory, 0o755);
      const started = await login.stci('start', '--name', 'mixed', ...HOSTS, ...CHAIN);
      assert.is(started.code, 0, started.stderr);
      await withProgram(RING, async (argv) => {
        const shell = ['sh', '-c', `PATH='${BIN}':"$PATH"; ${RING_SH}`];
        const run = await login.stcirun('--session', 'mixed', '--client', '-n', '2', ...argv, ':', '-n', '2',
          join(directory, 'ring'), ':', '-n', '1', ...shell);
        const told = ['sh on h5', 'node on h1', 'node on h2', 'c on h3', 'c on h4'];
        assert.equal([run.code, run.stdout, run.stderr], [0, `${told.join()}\n`, `${told.join('\n')}\n`]);
      });
      assert.is((await login.stci('stop', 'mixed')).code, 0);
    } finally {
      rmSync(directory, { recursive: true });
    }
    await login.nothingLeft();
  });
});
