/** What a wrapper around agents prints, and with which status it ends, is told of each host. */
// @sameFor user, node: words of the controller, which core decides

import { rmSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { run } from './e2e.js';
import { makeWrapper } from './wrapper-plugin.js';

suite('a launcherproc of a plugin whose wrapper fails', (test) => {
  const { place, plugin, env } = makeWrapper();
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const launch = async (host: string): Promise<string> => {
    const args = ['--plugin', plugin, '--launcher', 'wrap', '--host', host, 'true'];
    const { exitCode, out, err } = await run(args, { env });
    assert.equal([exitCode, out], [197, ''], err);
    return err;
  };

  test('its status, and what it said on standard error', async () => {
    const words = 'on host status did not come up: the command ended with status 125 before the agent answered\n'
      + '  it printed: no such container\n';
    assert.match(await launch('status'), words);
  }, { timeoutMs: 30_000 });

  test('a banner on standard output, and the status', async () => {
    const err = await launch('banner');
    assert.match(err, 'it says "Welcome to cluster Foo": a command around an agent must write nothing');
    assert.match(err, 'to standard output; the command ended with status 125 before the agent answered\n');
    assert.match(err, '  it printed: license expired\n');
  }, { timeoutMs: 30_000 });
});
