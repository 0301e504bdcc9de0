/** Failures of hosts in the summary: equal causes are reported once, with all hosts. */

import type { ErrorRecord } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { foldFailures } from '../../dist/run/fold-failures.js';

function refused(host: string, index: number, what = 'connection refused'): ErrorRecord {
  const agent = `root:${index}`;
  return {
    code: 'STCI_LAUNCH_FAILED', host, agent,
    message: `Agent ${agent} on host ${host} did not come up: phase connect: ${what}\n`
      + `  ssh printed: connect to 10.0.0.${index} port 22\n  what to do: Try \`ssh ${host} true\` by hand.`,
  };
}

suite('failures of hosts, folded', (test) => {
  test('equal causes are one text with a host list; others stand by themselves', () => {
    const failures = Array.from({ length: 32 }, (_, i) => refused(`h${i + 1}`, i));
    failures.splice(5, 0, refused('other', 77, 'no route'));
    const [first, second, ...more] = foldFailures(failures);
    assert.is(first, 'h[1-32]: did not come up: phase connect: connection refused\n'
      + '  ssh printed: connect to ADDRESS port 22\n  what to do: Try `ssh HOST true` by hand.');
    assert.is(second, failures[5]?.message);
    assert.equal(more, []);
  });

  test('a name is masked as a whole word: h1 not in h12, a.b literally', () => {
    const lost = (host: string, via: string): ErrorRecord =>
      ({ code: 'STCI_AGENT_LOST', host, message: `Host ${host} is cut off: it was reached through host ${via}` });
    assert.equal(foldFailures([lost('h1', 'h12'), lost('h2', 'h12'), lost('h3', 'h12'), lost('a.b', 'axb')]),
      ['h[1-3]: Host HOST is cut off: it was reached through host h12', lost('a.b', 'axb').message]);
  });

  test('one or two failures keep their words', () => {
    const [one, two] = [refused('h1', 0), refused('h2', 1)];
    assert.equal(foldFailures([one]), [one.message]);
    assert.equal(foldFailures([one, two]), [one.message, two.message]);
    assert.equal(foldFailures([]), []);
  });
});
