/**
 * Another user has taken the name of the directory in /tmp, as it can: sessions are elsewhere, every command finds
 * them, and nothing of theirs goes where that user points. In a mount namespace, whose /tmp is the test's own.
 */
// @timeoutMs 600000
// @sameFor node: who owns which directory; how Node makes and reads them is session-place's.

import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { LONG } from './e2e-place.js';

const bin = (name: string): string => fileURLToPath(new URL(`../bin/${name}.cjs`, import.meta.url));
const isRoot = process.getuid?.() === 0;
/** Of an ordinary user, who is root in a namespace of users. */
const NAMESPACE = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
const missing = spawnSync('unshare', [...NAMESPACE, 'mount', '-t', 'tmpfs', 'none', '/tmp']).status === 0
  ? undefined : 'no mount namespace can be made here';

/** What has to be there although it may be below /tmp: the clone, and Node. */
const KEPT = [fileURLToPath(new URL('../../..', import.meta.url)), dirname(dirname(process.execPath))];

/** In it, `squatter` runs commands as another user, which only root can; `foreign DIRECTORY` is such a user's. */
const HEAD = `set -u; cd /
mount --bind /tmp /mnt
mount -t tmpfs -o mode=1777 none /tmp
for kept in "$KEPT_1" "$KEPT_2"; do
  case $kept in /tmp/*) mkdir -p "$kept"; mount --bind "/mnt\${kept#/tmp}" "$kept" ;; esac
done
mkdir -m 700 /tmp/home /tmp/run
export HOME=/tmp/home
squatter() { setpriv --reuid=65534 --clear-groups "$@"; }
foreign() { mkdir -m 755 "$1"; chown 65534 "$1" 2>/dev/null || mount --bind /usr "$1"; }
stci() { "$NODE" "$STCI" "$@"; }
stcirun() { "$NODE" "$STCIRUN" "$@"; }
start() { stci start --quiet --launcher local --host a --name night; }
`;

/** The lines that a script writes on its standard output. */
function inOwnTmp(script: string): readonly string[] {
  const env: NodeJS.ProcessEnv = {
    ...process.env, NODE: process.execPath, STCI: bin('stci'), STCIRUN: bin('stcirun'),
    KEPT_1: KEPT[0], KEPT_2: KEPT[1],
  };
  for (const name of ['TMPDIR', 'XDG_RUNTIME_DIR', 'XDG_CACHE_HOME', 'STCI_SESSION']) delete env[name];
  const { stdout, stderr } = spawnSync('unshare', [...NAMESPACE, 'sh', '-c', HEAD + script], { encoding: 'utf8', env });
  const lines = stdout.trimEnd().split('\n');
  if (stderr !== '') lines.push(`stderr: ${stderr}`);
  return lines;
}

suite('a name in /tmp that is taken', (test) => {
  const check = test.skipIf.bind(test, missing !== undefined, missing ?? '');

  check('a directory of another user there blocks nothing; the next command finds the session', () => {
    const lines = inOwnTmp(`foreign /tmp/stci-0
      start
      stcirun --session night --detach -n 1 -- sh -c 'echo out'
      stci attach night.1
      export XDG_RUNTIME_DIR=/tmp/run
      stci ps | head -1
      stci stop night; echo "stop $?"
      stat -c '%a %n' /tmp/stci-0-* | sed 's/-[^-]*$//'
      start
      ls /tmp/run/stci/sessions
      stci stop; stci ps`);
    assert.equal(lines, [
      'night', 'night.1', 'out', 'night: 1 of 1 host up, 0 ranks', 'stop 0', '700 /tmp/stci-0', 'night', 'night',
      "no session; 'stci start' starts one",
    ]);
  }, LONG);

  check('nor does one with a name as those have that end at random', () => {
    const lines = inOwnTmp(`foreign /tmp/stci-0; foreign /tmp/stci-0-AAAAAA
      start
      stci stop night; echo "stop $?"`);
    assert.equal(lines, ['night', 'stop 0']);
  }, LONG);

  check('where nobody has taken it, it is the first choice: sessions outlive the login', () => {
    const lines = inOwnTmp(`export XDG_RUNTIME_DIR=/tmp/run
      start
      ls /tmp/stci-0/sessions
      stci stop night`);
    assert.equal(lines, ['night', 'night']);
  }, LONG);

  check("the user's own that is open to others is told, not passed over", () => {
    const lines = inOwnTmp(`mkdir /tmp/stci-0; mkdir -m 755 /tmp/stci-0/sessions
      start; echo "start $?"`);
    assert.equal([lines[0], lines.length], ['start 195', 2]);
    assert.match(lines[1] ?? '', 'chmod 700 /tmp/stci-0/sessions. Mend that, or choose another directory');
  }, LONG);

  check('a session that was there before the environment changed is found', () => {
    const lines = inOwnTmp(`start
      ls /tmp/stci-0/sessions
      export XDG_RUNTIME_DIR=/tmp/run
      stci ps | head -1
      stci start --quiet --launcher local --host a --name night
      stci stop night; echo "stop $?"`);
    assert.equal(lines.slice(0, 3), ['night', 'night', 'night: 1 of 1 host up, 0 ranks']);
    assert.equal([lines[3], lines.length], ['stop 0', 5]);
    assert.match(lines[4] ?? '', 'There is a session night already');
  }, LONG);

  test.skipIf(!isRoot || missing !== undefined, missing ?? 'needs root, to act as another user',
    'a link of another user leads no session anywhere', () => {
      const lines = inOwnTmp(`export XDG_RUNTIME_DIR=/tmp/run
        mkdir -m 755 /tmp/own; mkdir -m 777 /tmp/trap
        echo precious > /tmp/home/file; chmod 600 /tmp/home/file
        squatter ln -s /tmp/own /tmp/stci-0
        start
        squatter mkdir -p /tmp/trap/sessions/night/spools/1 /tmp/trap/sessions/night/spools/2
        squatter ln -s /tmp/home/file /tmp/trap/sessions/night/spools/2/1
        squatter ln -sfn /tmp/trap /tmp/stci-0
        for job in 1 2; do
          stcirun --session night -n 1 -- sh -c 'i=0; while [ $i -lt 6000 ]; do echo secret $i; i=$((i + 1)); done' |
            tail -1
          stcirun --session night --detach -n 1 -- sh -c 'i=0; while [ $i -lt 60000 ]; do echo secret; i=$((i+1)); done'
          stci wait night.$((job * 2)); echo "wait $?"
        done
        cat /tmp/home/file
        find /tmp/trap /tmp/own -type f
        du -s /tmp/run/stci/sessions/night/spools | awk '{ print ($1 > 0) }'
        stci stop night; echo "stop $?"`);
      assert.equal(lines, [
        'night', 'secret 5999', 'night.2', 'wait 0', 'secret 5999', 'night.4', 'wait 0', 'precious', '1', 'stop 0',
      ]);
    }, LONG);
});
