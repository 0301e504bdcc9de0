/** Check `no-orphan` on hosts that are reached by a login (a client in place of ssh), and on this machine. */
// @timeoutMs 300000

import { chmodSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert, killThose, suite } from '@stci/testkit';
import { LONG, recordsOf, said, withLab, type Lab } from './e2e-finject.js';

const FAKE = fileURLToPath(new URL('../../stcirun/test/fake-ssh.sh', import.meta.url));

/**
 * Leaves all by which its agent would find it, but not the run's mark; nor the pipes of its rank, which goes on when it
 * has done so.
 */
function away(lab: Lab): string {
  const gone = lab.path('gone');
  const left = `env -u STCI_TOOL_MARK -u STCI_GUARD setsid sh -c 'touch "${gone}"; exec sleep 61'`;
  return `${left} </dev/null >/dev/null 2>&1 & until [ -e "${gone}" ]; do sleep 0.02; done;`;
}

const QUICK = ['--mca', 'bootcom.lease=1s', '--mca', 'tool.grace=200ms'];

/** Refuses hosts for which there is a file `refuse-HOST`; once there is a file `far`, hosts are other machines. */
function client(lab: Lab): string {
  lab.file('ssh.sh', `#!/bin/sh
for word; do
  if [ "$seen" = 1 ]; then host=$word; seen=2; fi
  if [ -z "$seen" ] && [ "$word" = -- ]; then seen=1; fi
done
if [ -e '${lab.path('refuse-')}'$host ]; then
  echo "ssh: connect to host $host port 22: Connection refused" >&2
  exit 255
fi
[ -e '${lab.path('far')}' ] || exec '${FAKE}' "$@"
'${FAKE}' "$@" | sed -u 's/"boot":"[^"]*"/"boot":"far"/'
`);
  chmodSync(lab.path('ssh.sh'), 0o755);
  return lab.path('ssh.sh');
}

function experiment(lab: Lab, options: readonly string[], line: string): void {
  const program = ['sh', '-c', line];
  const target = { options: [...options, ...QUICK], program };
  lab.file('e.yaml', `name: e\ntarget: ${JSON.stringify(target)}\nchecks: [exit-code: 0, no-orphan]\n`);
}

/** Processes that a test has left on purpose. */
function endLeft(lab: Lab): number {
  const left = lab.runningAs('sleep 61');
  killThose(left);
  return left.length;
}

suite('no-orphan', (test) => {
  const over = (lab: Lab): string[] => ['--host', 'a,b', '--mca', `launcher.ssh.client=${client(lab)}`];

  test('hosts over ssh: all are looked at, and nothing is left', withLab(async (lab) => {
    experiment(lab, over(lab), 'sleep 0.1');
    const result = await lab.run('finject', 'run', 'e.yaml', '--output', 'run');
    said(result, 0);
    const [end] = recordsOf(lab.history('run'), 'repeat-end');
    assert.equal([end?.orphans, end?.left, end?.unknown], [0, [], []]);
  }), LONG);

  test('a process that left its agent is found on its host; a host that refuses is named', withLab(async (lab) => {
    const leave = `touch '${lab.path('far')}' '${lab.path('refuse-a')}'; ulimit -S -w unlimited; ${away(lab)}`;
    experiment(lab, ['-n', '2', ...over(lab)], `[ $STCI_RANK = 0 ] || { ${leave} }`);
    let ended = 0;
    try {
      const result = await lab.run('finject', 'run', 'e.yaml', '--output', 'run');
      said(result, 204);
      const [end] = recordsOf(lab.history('run'), 'repeat-end');
      assert.equal(end?.left?.map(({ host, command }) => [host, command]),
        [['this machine', 'sleep 61'], ['b', 'sleep 61']]);
      assert.equal(end?.unknown?.map(({ host }) => host), ['a']);
      assert.match(result.out, /2 processes were left: this machine: \d+ sleep 61, b: \d+ sleep 61; not known of 1/u);
      assert.match(end?.unknown?.[0]?.reason ?? '', 'Connection refused');
    } finally {
      ended = endLeft(lab);
    }
    assert.is(ended, 1);
  }), LONG);

  test('agents on this machine: it is looked at here; a session that stays says how its agents were started',
    withLab(async (lab) => {
      experiment(lab, ['--launcher', 'local', '--host', 'a,b'], 'sleep 0.1');
      said(await lab.run('finject', 'run', 'e.yaml', '--output', 'own'), 0);
      said(await lab.run('stci', 'start', '--host', 'a,b', '--launcher', 'local', '--name', 'lab'), 0);
      try {
        const target = '{ options: [-n, 2], session: lab, program: [sleep, 0.1] }';
        lab.file('in-lab.yaml', `name: e\ntarget: ${target}\nchecks: [no-orphan]\n`);
        said(await lab.run('finject', 'run', 'in-lab.yaml', '--output', 'staying'), 0);
        assert.ok(readdirSync(lab.path('staying')).includes('report.html'));
      } finally {
        await lab.run('stci', 'stop', 'lab');
      }
    }), LONG);
});
