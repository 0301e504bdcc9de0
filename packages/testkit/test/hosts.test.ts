/** Test hosts: the effect of each operation and each trait, seen from the login side over real ssh. */
// @timeoutMs 300000

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { assert, eventually, patient, suite } from '@stci/testkit';
import { RUNTIME_DIRECTORY, attach, listSets, up, whyNoHosts } from '@stci/testkit/hosts';
import type { Hosts, RunResult } from '@stci/testkit/hosts';
import { netnsPath } from '../dist/hosts/names.js';
import { removeSet } from '../dist/hosts/remove.js';
import { underLock } from '../dist/hosts/state.js';

const why = whyNoHosts();
const skipped = why !== undefined;
const reason = why ?? '';
const isRoot = process.getuid?.() === 0;
const LONG = { timeoutMs: 60_000 };
/** Name of a set of this process alone: a name that up() chooses is another's as soon as it is free. */
const own = (letter: string): string => `${letter}${process.pid.toString(36)}`;

/** A remote command, by a client that never asks. */
function ssh(hosts: Hosts, host: string, command: string): Promise<RunResult> {
  return hosts.run(['ssh', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=15', host, command]);
}

/** What a set leaves in the kernel and in the file system. */
function traces(set: string): string[] {
  const names = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);
  const netns = names('/run/netns').filter((name) => name.startsWith(`stci-${set}-`));
  const files = names(RUNTIME_DIRECTORY).filter((name) => name.includes(set));
  const place = `${RUNTIME_DIRECTORY}/${set}`;
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n').filter((line) => line.includes(place));
  const programs = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).map(commandOf)
    .filter((command) => command.includes(`${place}/`) || command.startsWith(`stci-hosts:${set}\0`));
  return [...netns, ...files, ...mounts, ...programs];
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

suite('test hosts', (test) => {
  const check = (name: string, body: (hosts: Hosts) => Promise<void>): void =>
    test.skipIf(skipped, reason, name, () => body(hosts), LONG);
  let hosts: Hosts;
  test.before(async () => {
    hosts = await up(3);
  }, LONG);
  test.after(() => hosts.down(), LONG);

  check('ssh by name from login to host and from host to host', async () => {
    const there = await ssh(hosts, 'h1', 'hostname; echo $HOME; ssh h2 hostname; node -p 1+1; exit 7');
    assert.equal(there, { code: 7, signal: null, stdout: `h1\n${hosts.home}\nh2\n2\n`, stderr: '' });
    assert.is((await hosts.run(['hostname'])).stdout, 'login\n');
    assert.is((await hosts.run(['getent', 'hosts', 'h3'])).stdout.split(/\s/)[0], hosts.address('h3'));
  });

  check('a program on the login side is the process that was spawned', async () => {
    const [file, ...args] = hosts.loginArgv(['sh', '-c', 'echo $$; exec sleep 60']);
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)));
    const pid = await new Promise<string>((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))));
    assert.is(Number(pid), child.pid);
    const commands = (): string => hosts.leftovers('login').map(({ command }) => command).join();
    await eventually(() => commands() === 'sleep 60', { what: 'the program alone on the login side' });
    child.kill('SIGKILL');
    assert.is(await ended, 'SIGKILL');
  });

  check('leftovers show what an ssh left behind, and kill ends it', async () => {
    await ssh(hosts, 'h2', 'setsid sleep 300 </dev/null >/dev/null 2>&1 &');
    const commands = (): string => hosts.leftovers('h2').map(({ command }) => command).join();
    await eventually(() => commands() === 'sleep 300', { what: 'the daemon alone on h2' });
    assert.equal([...hosts.allLeftovers().keys()], ['h2']);
    await hosts.kill('h2');
    assert.equal(hosts.processes('h2'), []);
    assert.is(hosts.isUp('h2'), false);
    assert.match((await ssh(hosts, 'h2', 'true')).stderr, 'Connection refused');
    await hosts.start('h2');
    assert.is((await ssh(hosts, 'h2', 'hostname')).stdout, 'h2\n');
    assert.is(hosts.allLeftovers().size, 0);
  });

  check('cut is silence, and mend heals what was open', async () => {
    const [file, ...args] = hosts.loginArgv(['ssh', 'h3', 'echo begin; read line; echo "end $line"']);
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    await eventually(() => output === 'begin\n', { what: 'the first line', deadlineMs: 15_000 });
    await hosts.cut('h3');
    const cut = await hosts.run(['ssh', '-o', 'ConnectTimeout=1', 'h3', 'true']);
    assert.is(cut.code, 255);
    assert.match(cut.stderr, 'timed out');
    child.stdin.write('of it\n');
    assert.is(child.exitCode, null);
    assert.is(output, 'begin\n');
    await hosts.mend('h3');
    await eventually(() => output === 'begin\nend of it\n', { what: 'the last line', deadlineMs: 20_000 });
    child.stdin.end();
  });

  check('an unplugged host knows that its interface is down, one that is cut does not; mend undoes it', async () => {
    const isUp = async (): Promise<boolean> =>
      /[<,]UP[,>]/u.test(await hosts.runOn('h3', ['ip', '-o', 'link', 'show', 'eth0']));
    await hosts.cut('h3');
    assert.is(await isUp(), true);
    await hosts.mend('h3');
    await hosts.unplug('h3');
    assert.is(await isUp(), false);
    assert.is((await hosts.run(['ssh', '-o', 'ConnectTimeout=1', 'h3', 'true'])).code, 255);
    await hosts.mend('h3');
    assert.equal([await isUp(), (await ssh(hosts, 'h3', 'true')).code], [true, 0]);
  });

  check('what runs on a host and fails is an error with its output', async () => {
    const failed = await hosts.runOn('h1', ['sh', '-c', 'echo why >&2; exit 3'])
      .catch((thrown: Error) => thrown.message);
    assert.match(String(failed), /ended with 3: why/u);
    assert.is(await hosts.runOn('h1', ['echo', 'well']), 'well\n');
  });

  check('a frozen host accepts and says nothing; thawed it answers', async () => {
    await hosts.freeze('h1');
    const frozen = await hosts.run(['ssh', '-o', 'ConnectTimeout=1', 'h1', 'true']);
    assert.match(frozen.stderr, 'timed out');
    await hosts.thaw('h1');
    assert.is((await ssh(hosts, 'h1', 'true')).code, 0);
  });

  check('a slow host is slow until it is not', async () => {
    await hosts.slow('h1', 256);
    const startMs = performance.now();
    assert.is((await ssh(hosts, 'h1', 'head -c 40000 /dev/zero')).stdout.length, 40_000);
    assert.ok(performance.now() - startMs > 900);
    await hosts.slow('h1', undefined);
    assert.is((await ssh(hosts, 'h1', 'true')).code, 0);
  });

  check('clear errors', async () => {
    await rejects(() => hosts.kill('h9'), 'no host "h9"');
    await rejects(() => hosts.start('h1'), 'h1 is up');
    await rejects(() => up(1, { set: hosts.set }), `in use by process ${process.pid}`);
    await rejects(() => up(0), 'from 1 to 240');
    await rejects(() => up(1, { traits: { h2: ['no-node'] } }), 'traits for h2');
    await rejects(() => up(1, { traits: { h1: ['no-nod'] } }), 'no trait "no-nod"');
    await rejects(async () => attach('nothere'), 'no test hosts "nothere"');
  });

  check('two sets at once are apart', async () => {
    const other = await up(2, { set: own('b') });
    try {
      assert.not.equal(other.address('h1'), hosts.address('h1'));
      assert.is((await ssh(other, 'h2', 'hostname')).stdout, 'h2\n');
      await other.run(['ssh', 'h1', 'touch ~/mine']);
      assert.is((await ssh(hosts, 'h1', 'ls ~')).stdout, '');
      const across = await other.run(['ssh', '-o', 'ConnectTimeout=1', hosts.address('h1'), 'true']);
      assert.match(across.stderr, 'unreachable');
    } finally {
      await other.down();
    }
    assert.equal(traces(other.set), []);
    assert.is((await ssh(hosts, 'h1', 'true')).code, 0);
  });
});

/** Trait → the remote command, and what its client must see: exit code and a text of its output. */
const SEEN: readonly (readonly [string, string, number, string])[] = [
  ['no-node', `command -v node || ls ${process.execPath}`, 2, 'No such file'],
  ['old-node', 'node --version; node -p process.versions.node; node -p 6*7', 0, 'v18.20.4\n18.20.4\n42'],
  ['banner', 'echo mine', 0, 'recorded. ***\nmine'],
  ['shell-exits', 'echo mine', 1, 'not available'],
  ['slow-login:600', 'echo late', 0, 'late'],
  ['key-refused', 'true', 255, 'Permission denied (publickey)'],
  ['password', 'true', 255, 'Permission denied (password)'],
  ['unknown-host-key', 'true', 255, 'Host key verification failed'],
  ['changed-host-key', 'true', 255, 'REMOTE HOST IDENTIFICATION HAS CHANGED'],
  ['no-sshd', 'true', 255, 'Connection refused'],
  ['silent', 'true', 255, 'timed out'],
  ['absent', 'true', 255, 'No route to host'],
  ['readonly-home', 'touch ~/x', 1, 'Read-only file system'],
  ['full-disk', 'echo text >~/x', 1, 'No space left on device'],
  ['private-home', 'touch ~/mine; ls ~', 0, 'mine'],
  ['private-tmp', 'touch /tmp/mine; ls -A /tmp; ls -A /tmp | wc -l', 0, 'mine\n1\n'],
];

suite('test hosts by trait', (test) => {
  let hosts: Hosts;
  const of = (index: number): string => `h${index + 1}`;
  test.before(async () => {
    hosts = await up(SEEN.length + 1, { traits: Object.fromEntries(SEEN.map(([trait], i) => [of(i), [trait]])) });
  }, LONG);
  test.after(() => hosts.down(), LONG);

  for (const [index, [trait, command, code, text]] of SEEN.entries()) {
    test.skipIf(skipped, reason, trait, async () => {
      const startMs = performance.now();
      const wait = trait === 'silent' ? ['-o', 'ConnectTimeout=1'] : [];
      const seen = await hosts.run(['ssh', '-o', 'BatchMode=yes', ...wait, of(index), command]);
      assert.is(seen.code, code, `${seen.stdout}${seen.stderr}`);
      assert.match(seen.stdout + seen.stderr, text);
      if (trait.startsWith('slow-login')) assert.ok(performance.now() - startMs >= 600);
    }, LONG);
  }

  test.skipIf(skipped, reason, 'a trait is its host’s alone', async () => {
    const plain = of(SEEN.length);
    const seen = await ssh(hosts, plain, 'node --version; ls ~; touch ~/shared && rm ~/shared');
    assert.equal([seen.code, seen.stderr], [0, '']);
    // Where this machine has several, a login need not find the one that runs this test.
    assert.match(seen.stdout, /^v(?!18\.)\d+\.\d+\.\d+\n$/);
  }, LONG);
});

suite('npm run hosts', (test) => {
  const cli = async (...args: string[]): Promise<[number | null, string]> => {
    const script = `const { main } = await import(${JSON.stringify(import.meta.resolve('@stci/testkit/hosts'))});
      process.exitCode = await main(process.argv.slice(1));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, '--', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    return new Promise((resolve) => child.on('close', (code) => resolve([code, output])));
  };
  const name = own('c');
  const set = ['--set', name];

  test.skipIf(skipped, reason, 'up, run, list, kill, start, down', async () => {
    assert.match((await cli(...set, 'run', 'true'))[1], `error: there are no test hosts "${name}"`);
    assert.is((await cli(...set, 'up', '2', '--with', 'h2=banner'))[0], 0);
    try {
      assert.equal(await cli(...set, 'run', 'ssh h1 hostname; exit 3'), [3, 'h1\n']);
      assert.equal(await cli(...set, 'kill', 'h1'), [0, '']);
      assert.match((await cli('list'))[1], /h1 {2}\S+ {2}down\n {2}h2 {2}\S+ {2}up {2}banner/);
      assert.match((await cli(...set, 'cut', 'h7'))[1], 'error: there is no host "h7"');
      assert.equal(await cli(...set, 'start', 'h1'), [0, '']);
      assert.match((await cli(...set, 'up', '2'))[1], 'are up already');
    } finally {
      assert.match((await cli(...set, 'down'))[1], 'are gone');
    }
    assert.equal(traces(name), []);
  }, LONG);

  const reasonOfRoot = why ?? 'only root has namespaces that others see';
  test.skipIf(skipped || !isRoot, reasonOfRoot, 'list of a set that has lost a namespace', async () => {
    assert.is((await cli(...set, 'up', '1'))[0], 0);
    try {
      assert.equal(await cli(...set, 'kill', 'h1'), [0, '']);
      execFileSync('ip', ['netns', 'delete', basename(netnsPath(name, 'h1'))]);
      const [code, said] = await cli('list');
      assert.equal([code, said.includes(`"${name}" is down; npm run hosts -- down --set ${name} removes`)], [0, true]);
    } finally {
      assert.match((await cli(...set, 'down'))[1], 'are gone');
    }
    assert.equal(traces(name), []);
  }, LONG);

  test.skipIf(skipped, reason, 'list waits for a set that is being taken down, and leaves it out', async () => {
    assert.is((await cli(...set, 'up', '1'))[0], 0);
    let said: [number | null, string] | undefined;
    const waiting = (): number => readdirSync('/proc').filter((pid) =>
      commandOf(pid).startsWith(`flock\0--exclusive\0${RUNTIME_DIRECTORY}`)).length;
    await underLock(async () => {
      void cli('list').then((result) => (said = result));
      await eventually(() => said !== undefined || waiting() > 1, { deadlineMs: 10_000, what: 'list at the lock' });
      await removeSet(name);
    });
    await eventually(() => said !== undefined, { deadlineMs: 20_000, what: 'the list' });
    assert.equal([said?.[0], said?.[1].includes(name)], [0, false], said?.[1]);
  }, LONG);

  test('a wrong command line is told with the usage', async () => {
    assert.is((await cli('up'))[0], 2);
    assert.match((await cli('fly'))[1], /unknown command "fly"[^]*Usage/);
    assert.match((await cli('--help'))[1], 'slow-login');
  }, LONG);
});

suite('test hosts come and go', (test) => {
  const [crashed, keeps] = [own('d'), own('k')];

  test.skipIf(skipped, reason, '64 hosts up and down ten times leave nothing', async () => {
    for (let round = 0; round < 10; round += 1) {
      const hosts = await up(64, { set: own('m') });
      if (round === 0) assert.is((await ssh(hosts, 'h64', 'hostname')).stdout, 'h64\n');
      await hosts.down();
      assert.equal(traces(hosts.set), []);
    }
  }, { timeoutMs: 110_000 });

  test.skipIf(skipped, reason, 'what a killed maker left is removed by the next up', async () => {
    const script = `import { up } from ${JSON.stringify(import.meta.resolve('@stci/testkit/hosts'))};
      await up(2, { set: '${crashed}' }); console.log('up'); setInterval(() => undefined, 1000);`;
    const args = ['--input-type=module', '-e', script];
    const maker = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => maker.stdout.once('data', resolve));
    const ended = new Promise((resolve) => maker.on('exit', resolve));
    maker.kill('SIGKILL');
    await ended;
    assert.ok(traces(crashed).length > 0);
    const next = await up(1);
    assert.equal(traces(crashed), []);
    assert.equal(listSets().filter(({ set }) => set === crashed), []);
    await next.down();
  }, LONG);

  test.skipIf(skipped, reason, 'daemons hold nothing of their maker', async () => {
    // The pipe ends when its other end is closed in all processes: the shell, and the hosts' daemons.
    const script = `import { up } from ${JSON.stringify(import.meta.resolve('@stci/testkit/hosts'))};
      await up(2, { set: '${keeps}', kept: true });`;
    const shell = 'exec "$0" --input-type=module -e "$1" 9>&1';
    execFileSync('sh', ['-c', shell, process.execPath, script], { timeout: patient(20_000) });
    const hosts = attach(keeps);
    assert.is((await ssh(hosts, 'h1', 'hostname')).stdout, 'h1\n');
    await hosts.down();
    assert.equal(traces(keeps), []);
  }, LONG);
});

async function rejects(body: () => Promise<unknown>, text: string): Promise<void> {
  const error = await body().then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof Error, `nothing thrown; expected: ${text}`);
  assert.match((error as Error).message, text);
}
