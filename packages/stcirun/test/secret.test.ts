/**
 * The session's secret of a real job is nowhere to be seen: not in the command line or the environment of any process,
 * not in any output, with all that can be told being told. The test learns the secret from Node's random source in
 * stcirun's process; no option tells it.
 */

import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentSecret, linkKey } from '@stci/core/bootcom';
import { rootAddress, sessionAddress } from '@stci/interface';
import { EXIT } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { start, type Run } from './e2e.js';
import { SECRET_BYTES, SPY, looks, searchProcesses, show } from './secret-spy.js';

const { secrets } = createNodePlatform();
interface Spied {
  readonly run: Run;
  /** The secret and what is derived from it, in all their looks. */
  needles(): Buffer[];
  end(): void;
}

function spied(args: readonly string[], env: Readonly<Record<string, string>> = {}): Spied {
  const dir = mkdtempSync(join(tmpdir(), 'stci-secret-'));
  const [spy, file] = [join(dir, 'spy.cjs'), join(dir, 'secrets')];
  writeFileSync(spy, SPY(file));
  const all = { ...env, XDG_CACHE_HOME: dir };
  const run = start(args, { input: 'open', nodeArgs: ['--require', spy], env: all, limitMs: 20_000 });
  const needles = (): Buffer[] => {
    const found = readFileSync(file, 'utf8').trim().split('\n').map((hex) => Buffer.from(hex, 'hex'));
    assert.is(found.length, 1, 'a session has one secret');
    return found.flatMap((secret) => {
      const root = agentSecret(secrets, secret, rootAddress(0), 0);
      const session = agentSecret(secrets, root, sessionAddress(0), 1);
      return [secret, linkKey(secrets, secret), root, session].flatMap(looks);
    });
  };
  return { run, needles, end: () => rmSync(dir, { recursive: true }) };
}

/** Shows its environment and its parent's command line, and waits. */
const TOOL = ['sh', '-c', 'env; tr "\\0" " " < /proc/$PPID/cmdline; echo; echo ready; read x; exit 3'];

const FAKE_SSH = fileURLToPath(new URL('../test/fake-ssh.sh', import.meta.url));

const KINDS: Readonly<Record<string, readonly string[]>> = {
  'native links': ['--launcher', 'local'],
  'ws links, as JSON': ['--launcher', 'local', '--json', '--mca', 'bootcom.boot=ws'],
  'encrypted ws links': ['--launcher', 'local', '--mca', 'bootcom.boot=ws', '--mca', 'bootcom.ws.encrypt=true'],
  'agents in threads': ['--launcher', 'local', '--mca', 'launcher.session.method=thread'],
  'a start over ssh': ['--launcher', 'ssh', '--mca', `launcher.ssh.client=${FAKE_SSH}`],
};

suite('the secret of a session', (test) => {
  for (const [kind, args] of Object.entries(KINDS)) {
    test(`${kind}: is in no command line, no environment, no output`, async () => {
      const flags = ['--host', 'a,b', '-n', '2', '--stdin', 'all', '--verbose', '--exit-report'];
      const { run, needles, end } = spied([...flags, ...args, '--', ...TOOL], { STCI_DEBUG: '1' });
      await eventually(() => run.out().match(/ready/g)?.length === 2, { what: 'the tools', deadlineMs: 10_000 });
      const { found, count } = searchProcesses(needles());
      assert.ok(count > 5, 'stcirun, agents and tools are among the processes');
      run.child.stdin?.end('\n');
      const { exitCode, out, err } = await run.result;
      assert.is(exitCode, 3, err);
      assert.ok(err.length > 0 && /STCI_/.test(out), 'there is output to search');
      found.push(...show(needles(), 'standard output', Buffer.from(out, 'latin1')));
      found.push(...show(needles(), 'standard error', Buffer.from(err)));
      assert.equal(found, []);
      end();
    }, { timeoutMs: 25_000 });
  }

  test('the search finds what it looks for', () => {
    const secret = secrets.bytes(SECRET_BYTES);
    const [hex, base64] = [Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')];
    const shifted = Buffer.concat([Buffer.from('ab'), secret, Buffer.from('c')]);
    for (const text of [`x${hex}`, hex.toUpperCase(), base64, shifted.toString('base64'), shifted.toString('base64url'),
      JSON.stringify([...secret]), shifted.toString('latin1')]) {
      assert.equal(show(looks(secret), 'here', Buffer.from(text, 'latin1')), ['here'], text);
      assert.equal(show(looks(secrets.bytes(SECRET_BYTES)), 'here', Buffer.from(text, 'latin1')), []);
    }
  });

  for (const [mpi, own] of [['none', ['0', '1', '2']], ['pmi1', ['0', '1', '2', '3']]] as const) {
    test(`a tool inherits descriptors ${own.join()} of its agent, with --mpi ${mpi}`, () => inherits(mpi, own));
  }

  async function inherits(mpi: string, own: readonly string[]): Promise<void> {
    const flags = ['--launcher', 'local', '--host', 'a,b', '--quiet', '--mpi', mpi];
    const { run, end } = spied([...flags, '--', 'ls', '-l', '/proc/self/fd']);
    const { out, err } = await run.result;
    // What whoever runs the tests has left open goes down to all.
    const isOuter = (fd: string, to: string): boolean =>
      Number(fd) > 2 && existsSync(`/proc/self/fd/${fd}`) && readlinkSync(`/proc/self/fd/${fd}`) === to;
    const isOwn = (to: string): boolean => /^\/proc\/\d+\/fd$/.test(to);
    const found = [...out.matchAll(/ (\d+) -> (.*)/g)].map(([, fd, to]) => [fd, to] as [string, string]);
    const inherited = found.filter(([fd, to]) => !isOuter(fd, to) && !isOwn(to)).map(([fd]) => fd);
    assert.equal([...new Set(inherited)].sort(), own, `${out}${err}`);
    end();
  }

  test('errors of a job that fails do not tell it', async () => {
    const flags = ['--launcher', 'local', '--host', 'a,b', '--verbose', '--exit-report=json'];
    const { run, needles, end } = spied([...flags, '--', 'no-such-program'], { STCI_DEBUG: '1' });
    const { exitCode, out, err } = await run.result;
    assert.is(exitCode, EXIT.program, err);
    assert.equal([...show(needles(), 'out', Buffer.from(out)), ...show(needles(), 'err', Buffer.from(err))], []);
    end();
  });
});
