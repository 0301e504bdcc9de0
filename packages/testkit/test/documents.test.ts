/**
 * Every command that README and docs show is run, block by block as somebody would type it, and must end with 0 or with
 * the exit code that its comment states. Programs and files that examples name are stand-ins, and so is ssh: what
 * would run on a host runs here. Examples of test hosts run on real ones. CONTRIBUTING has a test of its own.
 */

// @timeoutMs 300000
import { spawnSync } from 'node:child_process';
import {
  chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { whyNoHosts } from '@stci/testkit/hosts';
import { ROOT, blocks, commands, documents, expectedCodes, inlineCommands } from './documents.js';
import type { Block } from './documents.js';

/** Blocks that say why they are not run; more would hide something. */
const NOT_RUN_MAX = 3;
/** Commands that are run at least; fewer means that they are no longer found. */
const RUN_MIN = 25;

const OUTPUT_CHARS_SHOWN = 2_000;

const USER = documents('README.md', 'docs', 'examples');
const ALL = documents('README.md', 'CONTRIBUTING.md', 'docs', ...packageReadmes());
const shown = [...USER].flatMap(([path, text]) => blocks(path, text));
const isCommand = (block: Block): boolean => ['sh', 'bash', 'console', 'shell'].includes(block.language);
const scripts = shown.filter(isCommand);

function packageReadmes(): string[] {
  const names = ['testkit', 'core/src/mca', 'swarm', 'stcirun', 'launcher-ssh', 'launcher-local'];
  return names.map((name) => `packages/${name}/README.md`).filter((path) => existsSync(join(ROOT, path)));
}

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
  'run hosts') shift 3; exec node '${ROOT}/scripts/hosts.mjs' --set docs "$@" ;;
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

/** Runs them in one shell, so that what one exports the next has; stops at none. */
function runAll(place: string, list: readonly string[], withHosts: boolean): Ran[] {
  const mark = '\u0001';
  const script = list.map((command) => `{ ${command}\n}; printf '${mark}%s${mark}' "$?"`).join('\n');
  const stubs = [place, join(place, 'bin'), join(ROOT, 'node_modules/.bin'), dirname(process.execPath)];
  const path = [...(withHosts ? [] : [join(place, 'ssh')]), ...stubs, process.env['PATH']].join(':');
  const own = withHosts ? {} : { HOME: join(place, 'home'), STCI_MCA_launcher_ssh_node: process.execPath };
  const { stdout } = spawnSync('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd: place,
    encoding: 'utf8',
    timeout: 120_000,
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
  assert.equal(wrong.map(({ command, code, output }) =>
    `$ ${command}\n${output.slice(-OUTPUT_CHARS_SHOWN)}ended with ${code ?? 'nothing'}`), []);
}

suite('commands that README and docs show', (test) => {
  let place = '';
  test.before(() => { place = makePlace(); });
  test.after(() => rmSync(place, { recursive: true, force: true }));
  const noHosts = whyNoHosts();
  const noCompiler = spawnSync('cc', ['--version']).error === undefined ? undefined : 'no cc is installed here';

  for (const block of scripts) {
    const name = `${block.path}:${block.line} ${commands(block.text)[0] ?? 'nothing'}`;
    if (block.notRun !== undefined) continue;
    const withHosts = block.text.includes('npm run hosts');
    const why = withHosts ? noHosts : /^cc /m.test(block.text) ? noCompiler : undefined;
    test.skipIf(why !== undefined, why ?? '', name, () => {
      check(runAll(place, commands(block.text), withHosts));
    }, { timeoutMs: 130_000 });
  }

  test('in running text', () => {
    check(runAll(place, [...new Set([...USER.values()].flatMap(inlineCommands))], false));
  }, { timeoutMs: 130_000 });
});

suite('documents', (test) => {
  test('few blocks are not run, each with its reason, and the others are found', () => {
    const left = scripts.filter(({ notRun }) => notRun !== undefined);
    assert.ok(left.length <= NOT_RUN_MAX, left.map(({ path, line }) => `${path}:${line}`).join(', '));
    const run = scripts.filter(({ notRun }) => notRun === undefined).flatMap(({ text }) => commands(text));
    assert.ok(run.length >= RUN_MIN, `${run.length} commands`);
  });

  test('a block of commands says that it is one', () => {
    const unmarked = shown.filter(({ language }) => language === '')
      .filter(({ text }) => /^(\$ |stcirun |stci |npm |node )/m.test(text) && !/\[[a-z]|\.\.\./.test(text));
    assert.equal(unmarked.map(({ path, line }) => `${path}:${line}`), []);
  });

  test('npm scripts that they name exist', () => {
    const { scripts: known } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    for (const [path, text] of ALL) {
      for (const [command, name = ''] of text.matchAll(/\bnpm run ([a-z-]+)/g)) {
        assert.ok(Object.hasOwn(known, name), `${path}: ${command}`);
      }
    }
  });

  test('files that they name in code exist', () => {
    const isPath = /^(?:packages|scripts|docs|lint|bench)\/[\w./-]*\w$/;
    for (const [path, text] of ALL) {
      const spans = [...text.matchAll(/`([^`\s]+)`/g), ...text.matchAll(/\bnode ((?:packages|scripts)\/\S+)/g)];
      for (const name of spans.map((match) => match[1] as string).filter((each) => isPath.test(each))) {
        const isMade = name.includes('topology-star');
        const exists = [ROOT, join(ROOT, dirname(path))].some((place) => existsSync(join(place, name)));
        assert.ok(isMade || exists, `${path} names ${name}, which does not exist`);
      }
    }
  });
});
