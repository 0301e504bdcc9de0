/** The environment of ranks, from the caller's to what a program sees on each host. */

import { assert, suite } from '@stci/testkit';
import { run, type Result } from './e2e.js';

const CALLER = { SSH_AUTH_SOCK: '/s', MY_TOKEN: 'secret', KEEP: 'kept', DISPLAY: ':0' };
const SHOW = ['sh', '-c', 'echo ${KEEP-none} ${SSH_AUTH_SOCK-none} ${MY_TOKEN-none} ${DISPLAY-none}'];

async function shown(...options: string[]): Promise<string> {
  return (await run([...options, ...SHOW], { env: CALLER })).out;
}

suite('the environment of ranks', (test) => {
  test('nothing of the session and no secret, here and on other hosts', async () => {
    assert.is(await shown(), 'kept none none none\n');
    assert.is(await shown('--launcher', 'local', '--host', 'a,b'), 'kept none none none\n'.repeat(2));
  });

  test('secrets go by common names, and by a password in a URL; what only resembles one is passed on', async () => {
    const secrets = ['DB_PASS', 'PGPASS', 'GITHUB_PAT', 'TOKEN1', 'OPENAI_KEY', 'CI_JWT', 'BASIC_AUTH', 'SENTRY_DSN'];
    const urls = { DATABASE_URL: 'postgres://u:pw@h/d', HTTP_PROXY: 'http://:pw@proxy:3128' };
    const kept = { MAX_TOKENS: '1', KEYBOARD: 'us', http_proxy: 'http://proxy:3128', AT: 'http://h/a:b@c' };
    const env = { ...Object.fromEntries(secrets.map((name) => [name, 'x'])), ...urls, ...kept };
    const { out } = await run(['env'], { env });
    const names = out.split('\n').map((line) => line.slice(0, line.indexOf('=')));
    assert.equal(Object.keys(env).filter((name) => names.includes(name)), Object.keys(kept));
  });

  test('--export, --unset and -x choose otherwise', async () => {
    assert.is(await shown('--export', 'all'), 'kept /s secret :0\n');
    assert.is(await shown('--export', 'all,KEEP=x', '--unset', 'MY_*'), 'x /s none :0\n');
    assert.is(await shown('-x', 'MY_TOKEN', '--unset', 'KEEP'), 'none none secret none\n');
    const { out } = await run(['--export', 'none', '--mpi', 'none', 'env'], { env: CALLER });
    for (const line of out.trim().split('\n')) assert.match(line, /^STCI_/u);
  });

  test('--verbose names what is not passed on', async () => {
    const { err } = await run(['-v', 'true'], { env: CALLER });
    assert.match(err, /variables not passed on \(--export, -x\):.* SSH_AUTH_SOCK/u);
    assert.not.match(err, 'KEEP');
    assert.not.match(err, 'secret');
  });

  test('__proto__, hasOwnProperty and the like arrive', async () => {
    const names = ['__proto__', 'hasOwnProperty', 'constructor', 'toString'];
    const env = Object.fromEntries(names.map((name) => [name, `<${name}>`]));
    const found = ({ out }: Result): string[] => out.split('\n').filter((line) => line.includes('=<')).sort();
    const wanted = names.map((name) => `${name}=<${name}>`).sort();
    assert.equal(found(await run(['env'], { env })), wanted);
    assert.equal(found(await run(['--launcher', 'local', '--host', 'a', 'env'], { env })), wanted);
    assert.equal(found(await run(['-x', '__proto__=<1>', 'env'])), ['__proto__=<1>']);
  });

  test('a default of an option comes from the environment of stcirun', async () => {
    const env = { ...CALLER, STCI_MCA_option_tag: 'host', STCI_MCA_option_export: 'all' };
    const { out } = await run(['--launcher', 'local', '--host', 'h7', ...SHOW], { env });
    assert.is(out, '[h7] kept /s secret :0\n');
    assert.is((await run(['--tag=none', 'echo', 'x'], { env })).out, 'x\n');
    const bad = await run(['true'], { env: { STCI_MCA_option_stdin: 'x' } });
    assert.is(bad.exitCode, 194);
    assert.match(bad.err, 'environment (STCI_MCA_option_stdin): --stdin: expected a rank, all or none');
  });
});
