/**
 * `npm run demo`: runs real programs through controller, root agents and session agents on this machine, four agents
 * standing for four hosts, and shows the output and the exit codes.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/run.mjs';

const HOSTS = ['--launcher', 'local', '--host', 'a:2,b:2,c:2,d:2'];

/** Examples: description, arguments, expected exit code. */
const STEPS = [
  {
    why: 'Eight ranks of a real program, two on each of four hosts:',
    args: [...HOSTS, '-n', '8', '--tag', '--', 'sh', '-c', 'echo "rank $STCI_RANK of $STCI_SIZE on $STCI_HOST"'],
    exitCode: 0,
  },
  {
    why: 'Where they were, before anything is started:',
    args: [...HOSTS, '-n', '8', '--display', 'map', '--dry-run', '--', 'hostname'],
    exitCode: 0,
  },
  {
    why: 'Rank 3 fails; its status becomes the exit code of the job, and the others are ended:',
    args: [...HOSTS, '-n', '8', '--tag', '--', 'sh', '-c', 'test "$STCI_RANK" != 3 || exit 7; sleep 60'],
    exitCode: 7,
  },
];

const stcirun = join(root, 'node_modules/.bin/stcirun');
if (!existsSync(stcirun)) {
  console.error('error: node_modules/.bin/stcirun is missing: run npm run setup first');
  process.exit(1);
}

let failed = 0;
for (const { why, args, exitCode } of STEPS) {
  console.log(`\n${why}\n$ stcirun ${args.map(quote).join(' ')}`);
  const startMs = performance.now();
  const { status } = spawnSync(stcirun, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], timeout: 60_000 });
  console.log(`exit code ${status} after ${Math.round(performance.now() - startMs)} ms`);
  if (status !== exitCode) {
    console.error(`error: expected exit code ${exitCode}`);
    failed += 1;
  }
}
console.log(failed === 0 ? '\nThe demo ran as it should.' : `\n${failed} steps of the demo went wrong.`);
process.exitCode = failed === 0 ? 0 : 1;

function quote(word) {
  return /^[\w./:,=-]+$/.test(word) ? word : `'${word}'`;
}
