/** Files of cabinets: read once by the front-end, judged as other files are; what they may not hold. */
// @sameFor node: a file's lines, and core's tree of hosts.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveParams, type Registry } from '@stci/core';
import type { HostSpec, Params } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { frontEndRegistry } from '../dist/assembly/front-end-registry.js';
import { withHostGroups } from '../dist/settings/host-groups.js';
import { run } from './e2e.js';
import { withPlace } from './e2e-place.js';

const ORDER = 'detector.ring.order';
const RUN = ['--launcher', 'local', '--host', 'a,b,c', '--mca', 'detector=ring'];

function given(registry: Registry, settings: Readonly<Record<string, string>>): Params {
  const commandLine = Object.entries(settings).map(([key, value]) => ({ key, value, origin: '--mca' }));
  return resolveParams(registry.catalog, { commandLine, amFiles: [], environment: {} }).params;
}

function hostsOf(...names: string[]): HostSpec[] {
  return names.map((name) => ({ name, slots: 1, slotsBound: false, origin: 't' }));
}

suite('files of cabinets', (test) => {
  test('agents get the cabinets of the hosts, by their order', withPlace(async ({ directory: wdir }) => {
    writeFileSync(join(wdir, 'cabinets'), 'a,c east\nb west\n', { mode: 0o600 });
    const registry = frontEndRegistry([]);
    const order = (detector: string, ...hosts: string[]): string => {
      const params = given(registry, { detector, [ORDER]: 'file:cabinets' });
      return withHostGroups({ registry, params, wdir }, hostsOf(...hosts)).string(ORDER);
    };
    assert.is(order('ring', 'c', 'b', 'x', 'a'), 'cabinets:0*1,1*1,2*1,0*1');
    assert.is(order('ring', 'a', 'c', 'b'), 'cabinets:0*2,1*1');
    assert.is(order('ring', 'localhost'), 'cabinets:0*1');
    assert.is(order('swim', 'x', 'y'), 'file:cabinets');
  }));

  test('a run and a session with one; hosts that join', withPlace(async (place) => {
    const file = join(place.directory, 'cabinets');
    writeFileSync(file, 'a,d east\r\nb,c west\r\n', { mode: 0o600 });
    const options = ['--mca', 'detector=ring', '--mca', `${ORDER}=file:${file}`];
    const { exitCode, err } = await run([...RUN, ...options.slice(2), '-n', '3', 'true']);
    assert.equal([exitCode, err], [0, '']);
    place.start('rows', ...options);
    assert.is(place.stci('add-hosts', 'd,x', '--session', 'rows').exitCode, 0);
    const job = await place.run('rows', ['--ppn', '1', 'true']).result;
    assert.equal([job.exitCode, job.err], [0, '']);
    writeFileSync(file, 'z east\n');
    const refused = place.stci('start', '--launcher', 'local', '--host', 'a,b', '--name', 'no', ...options);
    assert.is(refused.exitCode, 194);
    assert.match(refused.err, `${ORDER}: ${file} names none of the hosts that are used.`);
  }), { timeoutMs: 60_000 });

  test('an order of hosts that are not there is refused before the start, but where hosts may join', withPlace(
    async (place) => {
      const order = ['--mca', `${ORDER}=hosts:3,1`];
      const said = await run([...RUN, ...order, '--dry-run', 'true']);
      assert.is(said.exitCode, 194);
      assert.match(said.err, `${ORDER} = 'hosts:3,1': there is no host 3. Hosts are numbered from 0 as they are `
        + 'allocated: expected 0 to 2');
      place.start('rows', '--mca', 'detector=ring', ...order);
    },
  ), { timeoutMs: 40_000 });

  test('what is refused, and why', withPlace(async ({ directory }) => {
    const file = join(directory, 'cabinets');
    const refused = async (path: string, exitCode = 194): Promise<string> => {
      const said = await run([...RUN, '--mca', `${ORDER}=file:${path}`, '--dry-run', 'true']);
      assert.is(said.exitCode, exitCode, said.err);
      return said.err;
    };
    writeFileSync(file, '', { mode: 0o600 });
    assert.match(await refused(file), `${ORDER}: ${file} names none of the hosts that are used.`);
    writeFileSync(file, 'a east\nb\n');
    assert.match(await refused(file, 195), `${file}:2: expected a host list and the name of its group, got "b"`);
    assert.match(await refused(`${file}x`), `${file}x cannot be read: no such file.`);
    mkdirSync(`${file}.d`, { mode: 0o700 });
    assert.match(await refused(`${file}.d`), `${file}.d cannot be read: it is not a regular file.`);
    execFileSync('mkfifo', ['-m', '600', `${file}.fifo`]);
    assert.match(await refused(`${file}.fifo`), `${file}.fifo cannot be read: it is not a regular file.`);
    truncateSync(file, 2 ** 26 + 1);
    assert.match(await refused(file), `${file} cannot be read: it is larger than 67108864 bytes.`);
    truncateSync(file, 0);
    chmodSync(file, 0o606);
    assert.match(await refused(file), `${file} is not used: it is world-writable. Only a file counts that nobody but`);
    assert.match(await refused(''), `${ORDER} = 'file:' is no order`);
  }), { timeoutMs: 60_000 });
});
