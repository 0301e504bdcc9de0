/** Overlays on real processes: what is refused, which links there are, and a session whose inner agents die. */
// @timeoutMs 240000

import { assert, suite } from '@stci/testkit';
import { run, sh } from './e2e.js';
import { LONG, soon, withPlace } from './e2e-place.js';

interface Shown {
  readonly overlay: string;
  readonly agents: readonly {
    readonly agent: string;
    readonly links: readonly { readonly peer: string; readonly role: string; readonly roundTripMs?: number }[];
  }[];
}

suite('overlays', (test) => {
  test('a topology that does not exist, a wrong option, no interface: refused with what is right', async () => {
    const six = ['--launcher', 'local', '--host', 'a,b,c', '-n', '3'];
    const refused = async (...args: string[]): Promise<string> => {
      const { exitCode, err, out } = await run([...args, 'true']);
      assert.equal([exitCode, out], [194, '']);
      return err;
    };
    assert.match(await refused(...six, '--overlay', 'bmgg'), /Unknown topology component "bmgg"\. Did you mean bmg\?/);
    assert.match(await refused(...six, '--overlay', 'tree:arty=3'), /topology tree: unknown option: expected one of/);
    assert.match(await refused(...six, '--overlay', 'bmg:'), /topology "bmg:": expected an option behind the colon/);
    const remote = ['--host', 'a,b,c', '--launcher', 'ssh', '-n', '3', '--overlay', 'bmg'];
    assert.match(await refused(...remote), /bootcom\.ws\.interface names no interface/);
  });

  test('stci topology: each link of the overlay beside the tree; inner agents die, and jobs of the others go on',
    withPlace(async (place) => {
      place.start('night', '--host', 'c,d,e,f', '--overlay', 'bmg', '--mca', 'launcher.tree.arity=1');
      const shown = (): Shown => JSON.parse(place.stci('topology', 'night', '--json').out) as Shown;
      const roles = (): string[] => shown().agents.flatMap(({ links }) => links.map(({ role }) => role));
      await soon(() => roles().filter((role) => role === 'overlay').length === 30, 'all links');
      const { overlay, agents } = shown();
      assert.equal([overlay, agents.length], ['bmg', 7]);
      assert.ok(agents.every(({ links }) => links.every(({ roundTripMs }) => (roundTripMs ?? -1) >= 0)));
      assert.match(place.stci('topology').out, /^night: 7 agents, 21 links, overlay bmg\n +agent +host +peer +role/);
      const pids = await place.agents('night');
      const line = 'echo $STCI_HOST; read x; echo $STCI_HOST';
      const job = place.run('night', ['--ppn', '1', '--stdin', 'all', '--on-failure', 'continue', ...sh(line)],
        { input: 'open' });
      await soon(() => job.out().length === 12, 'all ranks');
      for (const host of ['b', 'd']) process.kill(pids.get(host) as number, 'SIGKILL');
      job.child.stdin?.end('go\n');
      const { out } = await job.result;
      assert.equal(out.split('\n').sort().join(''), 'aabccdeeff');
    }), LONG);
});
