/** Files that a command line names, and the directory it is run in: devices, pipes, removed directories. */

import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, patient, suite } from '@stci/testkit';

const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));

/** A line of bash in which `stcirun` is the built one. */
function bash(line: string): SpawnSyncReturns<string> {
  const script = `stcirun() { '${process.execPath}' '${PROGRAM}' "$@"; }; ${line}`;
  const timeout = patient(30_000);
  return spawnSync('bash', ['-c', script], { encoding: 'utf8', timeout, stdio: ['ignore', 'pipe', 'pipe'] });
}

suite('files that a command line names', (test) => {
  test('one that never ends is refused soon', () => {
    const hosts = bash('stcirun --hostfile /dev/zero true');
    assert.is(hosts.status, 195);
    assert.match(hosts.stderr, '--hostfile /dev/zero cannot be read: it is larger than');
    const params = bash('stcirun --am /dev/zero true');
    assert.is(params.status, 194);
    assert.match(params.stderr, '--am /dev/zero cannot be read: it is larger than');
    const list = bash(`'${process.execPath}' '${STCI}' hosts count - < /dev/zero`);
    assert.is(list.status, 195);
    assert.match(list.stderr, 'Standard input (-) cannot be read: it is larger than');
  });

  test('a pipe into which nobody writes is given up', () => {
    const result = bash('cd "$(mktemp -d)" && mkfifo pipe && stcirun --hostfile pipe true; rm -r "$PWD"');
    assert.match(result.stderr, '--hostfile pipe cannot be read: nothing came for 10 s');
  }, { timeoutMs: 20_000 });

  test('hosts come from pipes and standard input; ranks then get none', () => {
    const line = 'stcirun --launcher local --hostfile';
    assert.is(bash(`${line} <(sleep 0.3; echo a; echo a) sh -c 'echo $STCI_HOST'`).stdout, 'a\na\n');
    assert.is(bash(`${line} <(true) true`).status, 195);
    assert.is(bash(`printf 'a\\nb\\n' | ${line} - sh -c 'cat; echo $STCI_SIZE'`).stdout, '2\n2\n');
    const rest = `printf 'a\\nb\\n' > "$f"; { read x; ${line} - sh -c 'echo $STCI_HOST'; } < "$f"; rm "$f"`;
    assert.is(bash(`f=$(mktemp); ${rest}`).stdout, 'b\n');
    assert.is(bash(`${line} - --stdin all true < /dev/null`).status, 193);
    assert.match(bash(`${line} - --hostfile - true < /dev/null`).stderr, 'only once');
  }, { timeoutMs: 20_000 });

  test('what is wrong is said in plain words', () => {
    assert.match(bash('stcirun --am /tmp true').stderr, '--am /tmp cannot be read: it is a directory. Check the path.');
    assert.match(bash('stcirun --hostfile /tmp/none true').stderr, 'cannot be read: no such file or directory. Check');
  });
});

suite('a working directory that was removed', (test) => {
  const gone = 'cd "$(mktemp -d)" && rmdir "$PWD" &&';

  test('is enough where every program has one of its own', () => {
    for (const hosts of ['', '--launcher local --host a,b']) {
      const { status, stdout, stderr } = bash(`${gone} stcirun --wdir / ${hosts} -n 1 pwd : -n 1 --wdir /usr pwd`);
      assert.equal([status, stdout.split('\n').sort(), stderr], [0, ['', '/', '/usr'], '']);
    }
  });

  test('is told where it is needed', () => {
    for (const argv of ['pwd', '--wdir sub pwd', '--wdir / pwd : pwd', '--wdir / --hostfile hosts pwd']) {
      const { status, stderr } = bash(`${gone} stcirun ${argv}`);
      assert.is(status, 196, argv);
      assert.match(stderr, 'stcirun: The current working directory was removed. ', argv);
    }
  });
});

suite('files that are named twice', (test) => {
  const CASES: readonly (readonly [argv: string, a: string, b: string])[] = [
    ['--output f --exit-report=json:./f', '--exit-report', '--output'],
    ['--launcher local --hostfile h --output h', '--hostfile', '--output'],
    ['--launcher local --hostfile h --exit-report=text:link', '--hostfile', '--exit-report'],
    ['--output out/%r.%s --exit-report=json:out/0.stderr', '--exit-report', '--output'],
    ['--exit-report=json:f -n 1 true > f', 'standard output', '--exit-report'],
    ['--exit-report=json:f --events f', '--exit-report', '--events'],
    ['--output f -n 1 true < f', 'standard input', '--output'],
  ];
  for (const [argv, a, b] of CASES) {
    test(`refused: ${argv}`, () => {
      const line = `stcirun ${argv.includes('true') ? argv : `${argv} true`}`;
      const { status, stderr } = bash(`cd "$(mktemp -d)" && echo a > h && ln -s h link && touch f; ${line}; s=$?
        grep -qx a h && rm -r "$PWD"; exit $s`);
      assert.is(status, 193, stderr);
      assert.match(stderr, `stcirun: ${a} and ${b} are the same file, /`);
    });
  }

  test('devices, other names and files that are only read are no matter', () => {
    const some = '--output /dev/null --exit-report=json:/dev/null';
    const others = '--launcher local --hostfile h --hostfile h --output o/%r --exit-report=json:o/10';
    const { status, stderr } = bash(`cd "$(mktemp -d)" && echo a > h && stcirun ${some} true && stcirun ${others} true
      s=$?; rm -r "$PWD"; exit $s`);
    assert.equal([status, stderr], [0, '']);
  });
});
