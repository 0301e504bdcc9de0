/** Which parts of the program are loaded: those of services where a job, or a message, asks for them, else none. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { run } from './e2e.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

/** The beginning of a program: writes the name of each part that it reads. */
const recorder = (list: string): string => `{
  const fs = require('node:fs');
  const { readFileSync, appendFileSync } = fs;
  fs.readFileSync = (path, ...rest) => {
    if (typeof path === 'string' && path.endsWith('.js')) appendFileSync(${JSON.stringify(list)}, path + '\\n');
    return readFileSync(path, ...rest);
  };
}
`;

/** The parts of services, without program and hash. */
const SERVICES = new RegExp(`-(${[
  'fault-service', 'job-pmi', 'pmi-host', 'pmi1-server', 'pmix-connection', 'program-service', 'parts',
  'metric-service', 'overlay-service', 'watch-service', 'arbiter',
].join('|')})-`, 'u');

suite('parts of the program', (test) => {
  let [place, list] = ['', ''];
  test.before(() => {
    place = mkdtempSync(join(tmpdir(), 'stci-services-'));
    list = join(place, 'loaded');
    for (const part of ['bin', 'dist/bundle', 'package.json']) {
      cpSync(join(PACKAGE, part), join(place, part), { recursive: true });
    }
    for (const program of ['stcirun', 'agent']) {
      const file = join(place, `dist/bundle/${program}.cjs`);
      writeFileSync(file, `${recorder(list)}${readFileSync(file, 'utf8')}`);
    }
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const loaded = async (...args: string[]): Promise<readonly string[]> => {
    writeFileSync(list, '');
    const { exitCode, err } = await run(args, { program: join(place, 'bin/stcirun.cjs') });
    assert.is(exitCode, args.at(-1) === 'false' ? 1 : 0, err);
    return readFileSync(list, 'utf8').split('\n').filter(Boolean).map((path) => basename(path));
  };
  const servicesOf = (parts: readonly string[]): readonly string[] =>
    [...new Set(parts.flatMap((part) => SERVICES.exec(part)?.[1] ?? []))].sort();

  test('of a plain job no service is loaded, neither in stcirun nor in agents', async () => {
    const parts = await loaded('--launcher', 'local', '--host', 'a,b', '-n', '2', 'true');
    assert.ok(parts.some((part) => part.startsWith('stcirun-')), parts.join());
    assert.is(parts.filter((part) => part.startsWith('agent-role-')).length, 2, parts.join());
    assert.equal(servicesOf(parts), []);
    assert.equal(servicesOf(await loaded('-n', '1', 'true')), []);
  }, { timeoutMs: 30_000 });

  test('of a session with an overlay, that is, in stcirun and in each agent', async () => {
    const parts = await loaded('--overlay', 'mesh', '--launcher', 'local', '--host', 'a,b', '-n', '2', 'true');
    assert.is(parts.filter((part) => part.startsWith('agent-overlay-service-')).length, 2, parts.join());
    assert.is(parts.filter((part) => part.startsWith('stcirun-overlay-service-')).length, 1, parts.join());
  }, { timeoutMs: 30_000 });

  test('where a detector of agents is named, the failure watch is: in each agent, and the arbiter', async () => {
    const parts = await loaded('--mca', 'detector=ring', '--launcher', 'local', '--host', 'a,b', '-n', '2', 'true');
    assert.is(parts.filter((part) => part.startsWith('agent-watch-service-')).length, 2, parts.join());
    assert.equal(servicesOf(parts.filter((part) => part.startsWith('stcirun-'))), ['arbiter']);
  }, { timeoutMs: 30_000 });

  test('of a plain job whose program fails, none is', async () => {
    const parts = await loaded('--launcher', 'local', '--host', 'a', '-n', '1', 'false');
    assert.equal(servicesOf(parts), []);
  }, { timeoutMs: 30_000 });

  test('of a job with the client library, that of programs is', async () => {
    const parts = await loaded('--client', '--launcher', 'local', '--host', 'a', '-n', '1', 'true');
    assert.equal(servicesOf(parts), ['program-service']);
    assert.ok(parts.every((part) => !part.startsWith('stcirun-program-service')), 'no program has connected');
  }, { timeoutMs: 30_000 });
});
