/** The commands of documents, run as somebody would type them: each must end with 0, or as its comment states. */

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, patient, suite } from '@stci/testkit';
import { whyNoHosts, whyNoSlurm } from '@stci/testkit/hosts';
import { ROOT, USER, commands, expectedCodes, inlineCommands, scripts, shown } from './documents.js';

const OUTPUT_CHARS_SHOWN = 2_000;
/** Of one block of commands, ms; the test has a little longer, to say which of them took it. */
const BLOCK_MS = 120_000;
const TEST_MS = BLOCK_MS + 10_000;
/** Of all blocks of a document. */
const TYPED_MS = 240_000;

/** A directory in which the examples find what they name. */
function makePlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'stci-documents-'));
  const stub = (path: string, text: string): void => {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
    chmodSync(join(place, path), 0o755);
  };
  for (const name of ['program', 'master', 'worker', 'bin/hello', 'bin/program']) {
    stub(name, '#!/bin/sh\necho "rank $STCI_RANK"\n');
  }
  stub('npm', `#!/bin/sh
case "$1 $2" in
  'run hosts') shift 3; exec node '${ROOT}/scripts/hosts.mjs' --set d${process.pid} "$@" ;;
  *) echo "npm $* is not run from an example: say so above it with <!-- not run: REASON -->" >&2; exit 99 ;;
esac
`);
  stub('ssh/ssh', readFileSync(join(ROOT, 'packages/stcirun/test/fake-ssh.sh'), 'utf8'));
  for (const { text } of shown.filter(({ language }) => language === 'c')) writeFileSync(join(place, 'ring.c'), text);
  for (const name of ['hosts.txt', 'hosts']) writeFileSync(join(place, name), 'n1 slots=8\nn[2-8]:8\n');
  writeFileSync(join(place, 'data.txt'), 'one\ntwo\n');
  mkdirSync(join(place, 'home'));
  symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'));
  symlinkSync(join(ROOT, 'experiments'), join(place, 'experiments'));
  symlinkSync(join(ROOT, 'examples'), join(place, 'examples'));
  return place;
}

interface Ran {
  readonly command: string;
  readonly code: number | undefined;
  readonly output: string;
}

/** What needs a terminal has one, at which its end is typed. */
function atTerminal(command: string): string {
  return / --pty /u.test(command) ? `echo exit | script -q -e -c '${command}' /dev/null` : command;
}

/** Runs them in one shell, so that what one exports the next has; stops at none. */
function runAll(place: string, list: readonly string[], withHosts: boolean, limitMs = BLOCK_MS): Ran[] {
  const mark = '\u0001';
  const script = list.map(atTerminal).map((command) => `{ ${command}\n}; printf '${mark}%s${mark}' "$?"`).join('\n');
  const stubs = [place, join(place, 'bin'), join(ROOT, 'node_modules/.bin'), dirname(process.execPath)];
  const path = [...(withHosts ? [] : [join(place, 'ssh')]), ...stubs, process.env['PATH']].join(':');
  const own = withHosts ? {} : { HOME: join(place, 'home'), STCI_MCA_launcher_ssh_node: process.execPath };
  const { stdout } = spawnSync('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd: place,
    encoding: 'utf8',
    timeout: patient(limitMs),
    env: { ...process.env, PATH: path, STCI_MCA_session_directory: join(place, 'sessions'), ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts = stdout.split(mark);
  return list.map((command, index) => {
    const [output = '', code] = [parts[2 * index], parts[2 * index + 1]];
    return { command, output, code: code === undefined ? undefined : Number(code) };
  });
}

function check(ran: readonly Ran[]): void {
  const wrong = ran.filter(({ command, code }) => code === undefined || !expectedCodes(command).includes(code));
  const endOf = (code: number | undefined): string =>
    code === undefined ? `not ended within ${patient(BLOCK_MS)} ms with those before it` : `ended with ${code}`;
  assert.equal(wrong.map(({ command, code, output }) =>
    `$ ${command}\n${output.slice(-OUTPUT_CHARS_SHOWN)}${endOf(code)}`), []);
}

/** All commands of a document in one shell, in an empty directory beside the experiments, as somebody types them. */
export function runTyped(path: string): void {
  suite(`the commands of ${path} as they are typed`, (test) => {
    test('one after the other', () => {
      const place = mkdtempSync(join(tmpdir(), 'stci-typed-'));
      symlinkSync(join(ROOT, 'experiments'), join(place, 'experiments'));
      try {
        const own = scripts.filter((block) => block.path === path && block.notRun === undefined);
        check(runAll(place, own.flatMap(({ text }) => commands(text)), true, TYPED_MS));
      } finally {
        rmSync(place, { recursive: true, force: true });
      }
    }, { timeoutMs: TYPED_MS + 10_000 });
  });
}

/** Runs the blocks, and with `inline` the commands in running text, of the documents whose path is one of these. */
export function runDocuments(
  title: string, isOne: (path: string) => boolean, { inline }: { readonly inline: boolean },
): void {
  suite(title, (test) => {
    let place = '';
    test.before(() => { place = makePlace(); });
    test.after(() => rmSync(place, { recursive: true, force: true }));
    const noHosts = whyNoHosts();
    const noSlurm = whyNoSlurm();
    const noCompiler = spawnSync('cc', ['--version']).error === undefined ? undefined : 'no cc is installed here';
    const noMpi = spawnSync('mpicc', ['--version']).error === undefined ? undefined : 'no mpicc is installed here';

    for (const block of scripts.filter(({ path }) => isOne(path))) {
      const name = `${block.path}:${block.line} ${commands(block.text)[0] ?? 'nothing'}`;
      if (block.notRun !== undefined) continue;
      const withHosts = block.text.includes('npm run hosts');
      const withSlurm = block.text.includes('--slurm');
      const why = withSlurm ? noSlurm : withHosts ? noHosts : /^cc /m.test(block.text) ? noCompiler
        : /^mpicc |\.\/mpi-/m.test(block.text) ? noMpi : undefined;
      test.skipIf(why !== undefined, why ?? '', name, () => {
        check(runAll(place, commands(block.text), withHosts));
      }, { timeoutMs: TEST_MS });
    }

    if (inline) {
      test('in running text', () => {
        check(runAll(place, [...new Set([...USER.values()].flatMap(inlineCommands))], false));
      }, { timeoutMs: TEST_MS });
    }
  });
}
