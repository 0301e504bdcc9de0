/** The example programs in real jobs, as a user starts them: as computed by one process, also with lost ranks. */

// @timeoutMs 300000
// @sameFor user, node: programs over the client library, as in e2e-client-messages and connect.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { run, start } from './e2e.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const EXAMPLES = join(ROOT, 'examples/programs');
const JACOBI = join(EXAMPLES, 'jacobi/jacobi.mjs');
const WORDS = join(EXAMPLES, 'word-count/word-count.mjs');
const NODE = process.execPath;
const LONG = { timeoutMs: 120_000 };
const PATH = [join(ROOT, 'node_modules/.bin'), dirname(NODE), process.env['PATH']].join(':');
/** Four ranks on one host, and on three. */
const JOBS: readonly (readonly string[])[] = [['-n', '4'], ['--launcher', 'local', '--host', 'a:1,b:2,c:1', '-n', '4']];
const noCompiler = spawnSync('cc', ['--version']).error === undefined ? undefined : 'no cc is installed here';

const inPath = (): { env: Record<string, string>; limitMs: number } => ({ env: { PATH }, limitMs: 60_000 });

/** What a job of these options writes; it must end with 0 and say nothing on standard error. */
async function output(options: readonly string[], program: readonly string[]): Promise<string> {
  const { exitCode, out, err } = await run(['--client', ...options, '--', ...program], inPath());
  assert.equal([exitCode, err], [0, ''], out);
  return inUtf8(out);
}

/** What came, as the program wrote it. */
const inUtf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();


/** The same without stcirun. */
function alone(program: readonly string[]): string {
  const { STCI_RANK: _, ...env } = process.env;
  const [name = '', ...args] = program;
  const { status, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8', env: { ...env, PATH } });
  assert.equal([status, stderr], [0, '']);
  return stdout;
}

suite('example programs', (test) => {
  let place = '';
  test.before(() => { place = mkdtempSync(join(tmpdir(), 'stci-programs-')); });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const jacobi = async (program: readonly string[]): Promise<void> => {
    const isEqual = /^24 x 24 points, (\d) ranks, (\d+ steps, middle 0\.\d+): as computed by one process\n$/;
    const expected = isEqual.exec(alone([NODE, JACOBI, '24']));
    assert.ok(expected !== null && expected[1] === '1');
    for (const options of JOBS) {
      const found = isEqual.exec(await output(options, [...program, '24']));
      assert.equal([found?.[1], found?.[2]], ['4', expected?.[2]]);
    }
    assert.is(isEqual.exec(alone([...program, '24']))?.[2], expected?.[2]);
  };

  test('jacobi for Node', () => jacobi([NODE, JACOBI]), LONG);

  test('a topology of one position, and none: without stcirun as in a job of one rank', async () => {
    const program = join(place, 'topologies.mjs');
    writeFileSync(program, `
const { connect } = await import(${JSON.stringify(join(ROOT, 'packages/client/dist/index.js'))});
const stci = await connect();
console.log((await connect().catch((error) => error)).code);
const specs = ['bmg', 'bmg:a=1', 'tree', 'tree:arity=1', 'tree:arity=1024', 'tree:arity=0', 'tree:arity=1025',
  'tree:arity=x', 'tree:arity=1,arity=1', 'tree:wrap=true', 'mesh', 'mesh:wrap=true,dimensions=1',
  'mesh:wrap=1', 'mesh:dimensions=2', 'mesh:dimensions=3', 'mesh:dimensions=1x1', 'mesh:dimensions=1x1x1x1',
  'mesh:dimensions=5x5', 'mesh:dimensons=1',
  'nonsense', '', 'tree:', 'Tree', 'tree arity'];
for (const spec of specs) {
  const said = await stci.topology(spec).then(({ neighbours, diameter }) => [neighbours, diameter], ({ code }) => code);
  console.log(spec, JSON.stringify(said));
}
stci.close();
`);
    const expected = await output(['-n', '1'], [NODE, program]);
    assert.match(expected, /^STCI_CLIENT_REFUSED\nbmg \[\[\],0\]\nbmg:a=1 "STCI_CLIENT_TOPOLOGY"\n/);
    assert.is(alone([NODE, program]), expected);
  }, LONG);

  test.skipIf(noCompiler !== undefined, noCompiler ?? '', 'jacobi in C computes the same as for Node', async () => {
    const source = join(EXAMPLES, 'jacobi/jacobi.c');
    const include = alone(['stci-client', 'include-dir']).trim();
    const strict = ['-std=c99', '-O2', '-Wall', '-Wextra', '-pedantic', '-Werror'];
    alone(['cc', ...strict, '-I', include, source, '-o', join(place, 'jacobi'), '-lm']);
    await jacobi([join(place, 'jacobi')]);
  }, LONG);

  test('jacobi: what is not allowed', async () => {
    const { exitCode, err } = await run(['--client', '-n', '2', '--', NODE, JACOBI, '1'], inPath());
    assert.is(exitCode, 2);
    assert.match(err, /jacobi: expected 2 to 300 points, a row for each rank, and a tolerance above 0/);
  }, LONG);

  /** Files of words, of different sizes; returns their directory. */
  const texts = (): string => {
    const directory = mkdtempSync(join(place, 'texts-'));
    for (let file = 0; file < 12; file++) {
      const words = Array.from({ length: 40 * (file + 1) }, (_, i) =>
        ['Zeit', 'zeit', 'été', `w${(i * i + file) % 17}`][i % 4]);
      writeFileSync(join(directory, `${file}.txt`), words.join(file % 2 === 0 ? ' ' : '\n'));
    }
    mkdirSync(join(directory, 'no-file'));
    return directory;
  };

  test('word count', async () => {
    const directory = texts();
    const expected = alone([NODE, WORDS, directory, '--check']);
    assert.match(expected, /^ {4}1560 zeit\n {5}780 été\n[^]*12 files, 3120 words, 1\d different, ranks: 1 of 1: as/);
    for (const options of JOBS) {
      assert.is(await output(options, [NODE, WORDS, directory, '--check']), expected.replace('1 of 1', '4 of 4'));
    }
    const few = mkdtempSync(join(place, 'few-'));
    writeFileSync(join(few, 'one'), 'Hello, hello!');
    const least = /^ {7}2 hello\n1 files, 2 words, 1 different, ranks: 3 of 3: as counted/;
    assert.match(await output(['-n', '3'], [NODE, WORDS, few, '--check']), least);
  }, LONG);

  test('word count with two ranks lost, one that had counted and one that had not', async () => {
    const directory = texts();
    const expected = alone([NODE, WORDS, directory, '--check']);
    // A file that nobody can read to its end holds one rank, which has counted others; meanwhile the rest have counted.
    const held = join(directory, '0.txt');
    renameSync(held, join(place, 'held'));
    alone(['mkfifo', held]);
    const events = join(place, 'events');
    const job = start(['--client', '--on-failure', 'continue', '-n', '4', '--events', events, '--', 'sh', '-c',
      `echo "pid $STCI_RANK $$"; exec '${NODE}' '${WORDS}' '${directory}' --check`], inPath());
    const counted = (): number[] => readFileSync(events, 'utf8').split('\n')
      .filter((line) => line.includes('"counted-')).map((line) => (JSON.parse(line) as { rank: number }).rank);
    await eventually(() => counted().length === 3, { what: 'the marks of three ranks', deadlineMs: 30_000 });
    const started = [...job.out().matchAll(/pid (\d) (\d+)/g)];
    const pids = new Map(started.map(([, rank, pid]) => [Number(rank), Number(pid)]));
    renameSync(join(place, 'held'), held);
    const waiting = [0, 1, 2, 3].find((rank) => !counted().includes(rank));
    for (const rank of [counted()[0], waiting]) process.kill(pids.get(rank as number) as number, 'SIGKILL');
    const { exitCode, out } = await job.result;
    assert.is(exitCode, 137);
    assert.is(inUtf8(out).replace(/pid .*\n/g, ''), expected.replace('1 of 1', '2 of 4'));
  }, LONG);

  test('master and workers in a shell', async () => {
    const script = ['sh', join(EXAMPLES, 'master-worker/master-worker.sh'), join(EXAMPLES, 'jacobi')];
    const equal = '3 files, 3 workers: as computed by one process\n';
    for (const options of JOBS) assert.is(await output(options, script), equal);
    assert.is(alone(script).split('\n').length, 4);
  }, LONG);
});

suite('one job in all languages', (test) => {
  const place = mkdtempSync(join(tmpdir(), 'stci-languages-'));
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const name = 'a ring through C, Node and a shell, and collectives';
  test.skipIf(noCompiler !== undefined, noCompiler ?? '', name, async () => {
    const c = `#include <stci.h>
      int main(void) {
        stci job; stci_message m; stci_parts parts; int flag = 1, i;
        if (stci_connect(&job, 30000) != STCI_OK) return 1;
        job.form = "text";
        if (stci_send(&job, 1, "ring", "C", 1) != STCI_OK) return 2;
        if (stci_receive(&job, 3, "ring", -1, &m) != STCI_OK) return 2;
        printf("%s back from %d as %s\\n", m.data, m.rank, m.form);
        stci_free(&m);
        if (stci_put(&job, "c", "of C", 4) != STCI_OK || stci_exchange(&job) != STCI_OK) return 3;
        if (stci_get(&job, "sh2", &m) != STCI_OK) return 4;
        printf("%s\\n", m.data);
        stci_free(&m);
        if (stci_allgather(&job, "0", 1, &parts) != STCI_OK) return 5;
        for (i = 0; i < parts.count; i++) printf("%d=%s;", parts.part[i].rank, parts.part[i].data);
        printf("\\n");
        stci_free_parts(&parts);
        if (stci_agree(&job, &flag) != STCI_OK) return 6;
        printf("agree %d\\n", flag);
        stci_close(&job);
        return 0;
      }`;
    const node = `import { connect } from '@stci/client';
      const stci = await connect();
      const { value } = await stci.receive({ tag: 'ring' });
      await stci.send(2, value + ' Node', { tag: 'ring' });
      await stci.exchange();
      if (await stci.get('c') !== 'of C') process.exit(7);
      await stci.allGather('1');
      await stci.agree(true);
      stci.close();`;
    const shell = `set -e; rank=$STCI_RANK; text=$(stci-client recv --tag ring)
      stci-client send $(((rank + 1) % 4)) "$text sh" --tag ring
      stci-client put "sh$rank" "of shell $rank"; stci-client exchange; stci-client get c >/dev/null
      stci-client allgather "$rank" >/dev/null; stci-client agree false || test $? = 1`;
    writeFileSync(join(place, 'ring.c'), c);
    const include = alone(['stci-client', 'include-dir']).trim();
    alone(['cc', '-I', include, join(place, 'ring.c'), '-o', join(place, 'ring')]);
    writeFileSync(join(place, 'ring.sh'), shell);
    const choose = 'case $STCI_RANK in 0) exec "$1/ring" ;; 1) exec "$2" --input-type=module -e "$3" ;;'
      + '*) exec sh "$1/ring.sh" ;; esac';
    for (const options of JOBS) {
      const program = ['sh', '-c', choose, 'sh', place, NODE, node];
      const { exitCode, out, err } = await run(['--client', ...options, '--', ...program],
        { ...inPath(), cwd: join(ROOT, 'packages/client') });
      assert.equal([exitCode, err, out],
        [0, '', 'C Node sh sh back from 3 as text\nof shell 2\n0=0;1=1;2=2;3=3;\nagree 0\n']);
    }
  }, LONG);
});
