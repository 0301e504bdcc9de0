/** A host of a session dies while it gets ten jobs a second: none is lost that could run elsewhere. */
// @timeoutMs 180000
// @sameFor user, node: the controller decides; hosts are as in ssh-hosts.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';
import { LoginSide } from './ssh-jobs.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const why = whyNoHosts();
const LONG = { timeoutMs: 150_000 };

const DEAD = 'h3';
const HOSTS = ['--launcher', 'ssh', '--host', 'h1:2,h2:2,h3:2,h4:2', '--mca', 'bootcom.lease=3s'];
const JOBS = 80;
/** Number of the job with which the host dies. */
const DEATH = 30;

/** One process, so that ten jobs a second are no load: a line at each start, one with each end. */
const SUBMIT = `
import { launch } from '@stci/stcirun';
const [jobs, ranks, seconds] = process.argv.slice(1);
let at = 0;
const timer = setInterval(() => {
  const job = at++;
  if (at === Number(jobs)) clearInterval(timer);
  console.log(JSON.stringify({ job }));
  const program = { np: Number(ranks), mapBy: 'node', program: 'sleep', args: [seconds] };
  launch({ session: 'busy', wait: true, ...program }).result.then(
    ({ exitCode, report }) => console.log(JSON.stringify({ job, exitCode, report })),
    (error) => console.log(JSON.stringify({ job, exitCode: String(error) })));
}, 100);`;

interface Line {
  readonly job: number;
  readonly exitCode?: unknown;
  readonly report?: { readonly ranks: readonly { readonly host: string; readonly pid: number }[] };
}

suite('a host dies while jobs are submitted', (test) => {
  let hosts: Hosts;
  test.before(async () => {
    if (why === undefined) hosts = await up(4);
  }, LONG);
  test.after(async () => hosts?.down(), LONG);

  // As many as fill most of the slots.
  for (const [ranks, seconds] of [[1, 0.6], [3, 0.2]] as const) {
    const name = `of ${ranks} rank${ranks === 1 ? '' : 's'}: those that had run there may be lost, and no other`;
    test.skipIf(why !== undefined, why ?? '', name, async () => {
      const login = new LoginSide(hosts);
      const started = await login.stci('start', '--name', 'busy', ...HOSTS);
      assert.is(started.code, 0, started.stderr);
      const env = { STCI_MCA_session_directory: login.sessions };
      const numbers = [JOBS, ranks, seconds].map(String);
      const [file, ...args] = hosts.loginArgv(
        [process.execPath, '--input-type=module', '-e', SUBMIT, ...numbers], { env, cwd: HERE });
      const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const ends: Line[] = [];
      let death: Promise<void> | undefined;
      for await (const text of createInterface({ input: child.stdout })) {
        const line = JSON.parse(text) as Line;
        if (line.exitCode !== undefined) ends.push(line);
        // As a power failure: nobody is told.
        else if (line.job === DEATH) death = hosts.cut(DEAD).then(() => hosts.kill(DEAD));
      }
      await death;
      assert.is(ends.length, JOBS);
      // It may have had output of theirs, also of those that had ended.
      const ranThere = ({ report }: Line): boolean =>
        report?.ranks.some(({ host, pid }) => host === DEAD && pid > 0) === true;
      assert.ok(ends.some((end) => end.job < DEATH && ranThere(end)), 'the host was one of those that jobs ran on');
      assert.equal(ends.filter((end) => end.exitCode !== 0 && !ranThere(end)), []);
      assert.equal(ends.filter(({ job, exitCode }) => job > DEATH + 5 && exitCode !== 0), []);
      const stopped = await login.stci('stop', 'busy');
      assert.is(stopped.code, 0, stopped.stderr);
      await hosts.mend(DEAD);
      await hosts.start(DEAD);
      await login.nothingLeft();
    }, LONG);
  }
});
