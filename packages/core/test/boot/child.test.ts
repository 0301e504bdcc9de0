/** What a child's last words say of a plugin: its faults are told apart from what it prints. */

import { rootAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { childError, keepLine, newChild, relayedDiagnostic, type Child } from '../../dist/boot/child.js';

const CALL = 'plugin /p/q: launcherproc:own.start';

function child(...lines: string[]): Child {
  const made = newChild({ address: rootAddress(1), host: { name: 'a' } } as never, 'up');
  for (const line of lines) keepLine(made, line);
  return made;
}

const pluginOf = (line: string): unknown => childError('STCI_AGENT_LOST', child(line), 'is silent').data['plugin'];

suite('last words of a child', (test) => {
  test('a fault names its plugin, in the forms that agents tell it in', () => {
    const FAULTS = [
      `${CALL} failed: boom (index.js:3).`, `stci warn: agent ended: ${CALL} failed: a: b failed: c`,
      `${CALL} has not returned for 500 ms (plugin.timeout). This process ends.`,
      `stci: ${CALL} has ended this process (exit code 3). A plugin's code throws errors, and ends none.`,
      'stci: plugin /p/q: the load of ./my file.js has not returned for 500 ms (plugin.timeout).',
      'stci: plugin /p/q: the load of ./index.js has ended this process (exit code 3).',
      'stci warn: agent ended: plugin /p/q: an error outside of any call: boom (index.js:15).',
    ];
    for (const line of FAULTS) assert.is(pluginOf(line), '/p/q', line);
    assert.is(childError('STCI_AGENT_LOST', child(), `exited: ${CALL} failed: boom.`).data['plugin'], '/p/q');
  });

  test('what a plugin prints is no fault, whatever it is', () => {
    const WORDS = ['ssh failed: timed out', 'x failed: y', `${CALL} failed: boom`, 'it has not returned for 3 ms'];
    for (const word of WORDS) assert.is(pluginOf(`output of ${CALL}: ${word}`), undefined, word);
    const [level, text] = relayedDiagnostic(child().spec, `output of ${CALL}: said`);
    assert.equal([level, text], ['warn', `root:1 on host a: output of ${CALL}: said`]);
    assert.is(pluginOf('plugin /p/q: the copy of it failed: no room'), undefined);
  });

  test('a long line is looked at in time that grows with its length', () => {
    const elapsedMs = (line: string): number => {
      const beforeMs = performance.now();
      for (let round = 0; round < 10; round += 1) pluginOf(line);
      return performance.now() - beforeMs;
    };
    for (const part of [': a', ': the load of ', 'a has ', ': a failed:']) {
      const line = `plugin /${part.repeat(Math.ceil(65_536 / part.length))}`;
      elapsedMs(line);
      const ms = elapsedMs(line);
      assert.ok(ms < 1000, `${ms} ms for 10 lines of ${JSON.stringify(part)}`);
    }
  });
});
