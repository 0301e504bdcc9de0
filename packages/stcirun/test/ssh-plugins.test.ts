/**
 * Plugins on several hosts, each with a home of its own: their copies, their faults far away, and the boot tree that
 * one of them decides.
 */
// @timeoutMs 300000
// @sameFor node: ssh and hosts; for Node a plugin is a module, as in e2e-plugin and plugin-faults.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts, type RunResult } from '@stci/testkit/hosts';
import { MANAGER, writePackage } from './plugin-package.js';
import { LoginSide } from './ssh-jobs.js';

const CABINETS = fileURLToPath(new URL('../../../examples/cabinets', import.meta.url));
const why = whyNoHosts();
const LONG = { timeoutMs: 90_000 };
const NAMES = ['h1', 'h2', 'h3', 'h4', 'h5'];

suite('plugins on hosts', (test) => {
  let hosts: Hosts;
  let login: LoginSide;
  let place = '';
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-plugins-')));
    hosts = await up(5, { traits: Object.fromEntries(NAMES.map((host) => [host, ['private-home']])) });
    login = new LoginSide(hosts);
  }, LONG);
  test.after(async () => {
    await hosts?.down();
    if (place !== '') rmSync(place, { recursive: true });
  }, LONG);

  const FIVE = ['--launcher', 'ssh', '--host', NAMES.join(), '-n', '5'];
  const CHAIN = ['--mca', 'launcher.tree.arity=1'];

  /** An error manager whose part in agents is `local`. */
  function write(local: string): void {
    const text = `export default manager({ create: () => ({ policy: 'own', toleratesFailures: true,
      decide: (_failure, { phase, of }) =>
        [{ type: of === 'session' && phase !== 'launching' ? 'leave-out' : 'go-on' }],
      local: (failure, { attempt }) => { ${local} } }) });`;
    writePackage(join(place, 'own'), { files: { 'index.js': MANAGER + text } });
  }
  const restarts = (until: number): void =>
    write(`return attempt < ${until} ? { type: 'restart', afterMs: 0 } : { type: 'report' };`);
  const run = (...args: string[]): Promise<RunResult> =>
    login.stcirun(...FIVE, ...CHAIN, '--plugin', join(place, 'own'), '--on-failure', 'own', ...args);
  const attempts = (...args: string[]): Promise<RunResult> => run(...args, 'sh', '-c', 'echo $STCI_ATTEMPT; exit 1');
  const inCaches = (line: string, names: readonly string[] = NAMES): Promise<string[]> =>
    Promise.all(names.map((host) => hosts.runOn(host, ['sh', '-c', `cd "$HOME/.cache/stci/plugins" && ${line}`])));
  /** How many each host has. */
  async function copies(): Promise<number[]> {
    return (await inCaches('ls -d */*')).map((found) => found.match(/\/[0-9a-f]{64}$/gmu)?.length ?? 0);
  }
  const perHost = (attempts: number): string => NAMES.flatMap(() => [1, 2, 3].slice(0, attempts)).sort().join();
  const said = ({ stdout }: RunResult): string => stdout.trim().split('\n').sort().join();

  check('two versions, one after the other, down a chain; a host whose cache was emptied', async () => {
    restarts(2);
    assert.is(said(await attempts()), perHost(2));
    assert.equal(await copies(), [1, 1, 1, 1, 1]);
    restarts(3);
    assert.is(said(await attempts()), perHost(3));
    assert.equal(await copies(), [2, 2, 2, 2, 2]);
    await inCaches('rm -r ../plugins', ['h3']);
    restarts(2);
    assert.is(said(await attempts()), perHost(2));
    assert.equal(await copies(), [2, 2, 1, 2, 2]);
  });

  const fourthFails = (after: number): string[] => ['sh', '-c', `[ $STCI_RANK = 3 ] && exit 1; sleep ${after}`];

  check('code that throws or hangs far away, and a cache of somebody else: told with the host', async () => {
    write('throw new Error("boom");');
    const thrown = await run(...fourthFails(0));
    assert.is(thrown.code, 1, thrown.stderr);
    assert.match(thrown.stderr, 'stci warn: root:3 on host h4: error manager own failed, what failed is reported to '
      + `the controller: plugin ${place}/own: errmgr:own.local failed: boom`);
    write('for (;;);');
    const hung = await run('--mca', 'plugin.timeout=1s', ...fourthFails(3));
    assert.is(hung.code, 194, hung.stderr);
    assert.match(hung.stderr, new RegExp(`Agent root:3 on host h4 is lost: .*plugin ${
      place}/own: errmgr:own\\.local has not returned for 1000 ms \\(plugin\\.timeout\\)`, 'u'));
    const owner = process.getuid?.() === 0 ? ['chown -R 12345 *', 'chown -R 0 *'] : ['chmod 777 *', 'chmod 700 *'];
    await inCaches(owner[0] as string, ['h4']);
    const refused = await run('true');
    await inCaches(owner[1] as string, ['h4']);
    assert.is(refused.code, 197, refused.stderr);
    assert.match(refused.stderr, /Agent root:3 on host h4 did not come up: /u);
    assert.match(refused.stderr, new RegExp(`plugin ${place}/own: Plugins need a directory for their copies: `
      + '\\S+/plugins/\\w+ (belongs to another user|is world-writable)', 'u'));
    const wrong = `error manager own failed, abort takes its place: plugin ${place}/own: errmgr:own.decide failed: `;
    assert.match(refused.stderr, wrong);
    assert.is((await run('true')).code, 0);
    await login.nothingLeft();
  });

  /** For each host that has started others, those. */
  function starts(): Record<string, string[]> {
    const targets = (host: string): string[] => {
      const all = host === 'login' ? hosts.leftovers(host) : hosts.processes(host);
      return all.flatMap(({ command }) => /^ssh .* (h\d) /u.exec(command)?.[1] ?? []).sort();
    };
    return Object.fromEntries(['login', ...NAMES].map((host) => [host, targets(host)] as const)
      .filter(([, all]) => all.length > 0));
  }

  check('a tree by cabinets: who starts whom; a head that is not reached, and one that dies', async () => {
    const tree = ['--plugin', CABINETS, '--mca', 'launcher=cabinets', '--mca', 'launcher.cabinets.of=cabinets:0*2,1*3',
      '--mca', 'launcher.cabinets.between=1'];
    const line = ['sh', '-c', 'echo up; read x; echo on $STCI_HOST'];
    const job = login.start(...FIVE, ...tree, '--on-failure', 'continue', '--stdin', 'all', ...line);
    await job.has(5, /^up/u);
    assert.equal(starts(), { login: ['h1'], h1: ['h2', 'h3'], h3: ['h4', 'h5'] });
    await hosts.kill('h3');
    job.child.stdin?.end('go\n');
    await job.ended();
    assert.equal([job.code, job.lines.slice(5).sort().join()], [200, 'on h1,on h2,on h4,on h5'], job.err);
    const rest = login.start(...FIVE.slice(0, -2), ...tree, '--on-launch-failure', 'shrink', '--stdin', 'all',
      ...line);
    await rest.has(4, /^up/u);
    assert.equal(starts(), { login: ['h1'], h1: ['h2', 'h4', 'h5'] });
    rest.child.stdin?.end('go\n');
    await rest.ended();
    assert.equal([rest.code, rest.lines.slice(4).sort().join()], [0, 'on h1,on h2,on h4,on h5'], rest.err);
    assert.match(rest.err, /^stcirun: host h3 is left out: Agent root:2 on host h3 did not come up: phase connect: /u);
    await hosts.start('h3');
    await login.nothingLeft();
  });
});
