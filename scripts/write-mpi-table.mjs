/**
 * `write-mpi-table.mjs [REPORT]...`: runs the tests with MPI libraries (STCI_MPI_ROOT adds those of a root), or
 * takes what `test.mjs --report REPORT` has told of such runs, a suite's by the last of them, and writes the table
 * of tested pairs in docs/mpi.md: which library was found, how many tests passed of those that ran, and what doctor
 * knows not to work with it. `--check [DOCUMENT]`: tells what of the table cannot be of this version, and ends with
 * 1 if there is anything; a test does so.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KNOWN_BAD } from '../packages/stcirun/dist/doctor/check-mpi.js';
import { linkedMpi } from '../packages/stcirun/dist/files/linked-mpi.js';
import { root, status } from './lib/run.mjs';

const DOCUMENT = join(root, 'docs/mpi.md');
const BEGIN = '<!-- written by scripts/write-mpi-table.mjs, from tests that ran -->';
const END = '<!-- end of the table -->';
const HEAD = ['| library | one host | several hosts | known not to work, whoever starts it |', '|---|---|---|---|'];
const ONE_HOST = ['e2e-mpi.test', 'e2e-mpi-ends.test', 'e2e-mpi-programs.test'];
const SEVERAL = 'ssh-mpi.test';

function knownOf(name) {
  return KNOWN_BAD.filter(({ family, version }) => `${family} ${version}` === name).map(({ text }) => text).join('; ');
}

/** `passed of run`; `none` where none ran. */
function counted(tests) {
  const ran = tests.filter(({ status: end }) => end !== 'skipped');
  return ran.length === 0 ? 'none' : `${ran.filter(({ status: end }) => end === 'passed').length} of ${ran.length}`;
}

function reportOf(given) {
  if (given.length > 0) return given.map((file) => readFileSync(file, 'utf8')).join('');
  const directory = mkdtempSync(join(tmpdir(), 'stci-mpi-table-'));
  try {
    const file = join(directory, 'report');
    status(process.execPath, ['scripts/test.mjs', ...ONE_HOST, SEVERAL, '--report', file]);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function makeTable(given) {
  const { MPI_LIBRARIES } = await import('../packages/stcirun/dist-test/mpi-libraries.js');
  const reports = reportOf(given).trim().split('\n').map((line) => JSON.parse(line));
  const of = (words) => {
    const suites = new Map();
    for (const { file: { label }, tests } of reports) {
      if (!words.some((word) => label.includes(`/${word}`))) continue;
      for (const suite of new Set(tests.map((one) => one.suite))) {
        suites.set(`${label} ${suite}`, tests.filter((one) => one.suite === suite));
      }
    }
    return [...suites.values()].flat();
  };
  const [here, there] = [of(ONE_HOST), of([SEVERAL])];
  return [...HEAD, ...MPI_LIBRARIES.filter(({ why }) => why === undefined).map(({ title, program, options }) => {
    const libraries = /LD_LIBRARY_PATH=([^:]*)/.exec(options.join(' '))?.[1] ?? '';
    const { family, version } = linkedMpi(program(), { wdir: '/', path: '', libraries });
    const one = counted(here.filter(({ suite }) => suite === title || suite.startsWith(`${title}, `)));
    const several = counted(there.filter(({ name }) => name.startsWith(`${title}: `)));
    return `| ${family} ${version} | ${one} | ${several} | ${knownOf(`${family} ${version}`)} |`;
  })];
}

function problemsOf(document) {
  const lines = document.split('\n');
  const [begin, end] = [lines.indexOf(BEGIN), lines.indexOf(END)];
  if (begin < 0 || end < begin) return ['there is no table'];
  const [head, rule, ...rows] = lines.slice(begin + 1, end);
  const named = new Set();
  const problems = head === HEAD[0] && rule === HEAD[1] && rows.length > 0 ? [] : ['its head is another one'];
  for (const row of rows) {
    const [, name, one, several, known] = /^\| (.+? \d[\w.]*) \| (.+?) \| (.+?) \| (.*?) ?\|$/.exec(row) ?? [];
    if (name === undefined || named.has(name)) problems.push(`what is ${row}`);
    else if ([one, several].some((text) => text !== 'none' && /^([1-9]\d*) of \1$/.exec(text) === null)) {
      problems.push(`${name}: tests failed`);
    } else if (known !== knownOf(name)) problems.push(`${name}: known not to work is '${knownOf(name)}'`);
    named.add(name);
  }
  const unnamed = KNOWN_BAD.map(({ family, version }) => `${family} ${version}`).filter((name) => !named.has(name));
  return [...problems, ...[...new Set(unnamed)].map((name) => `${name} is missing`)];
}

const [option, ...more] = process.argv.slice(2);
if (option === '--check') {
  const problems = problemsOf(readFileSync(more[0] ?? DOCUMENT, 'utf8'));
  const remedy = 'Run: node scripts/write-mpi-table.mjs';
  process.stdout.write(problems.map((problem) => `the table of docs/mpi.md: ${problem}. ${remedy}\n`).join(''));
  process.exitCode = problems.length === 0 ? 0 : 1;
} else {
  const table = await makeTable(process.argv.slice(2));
  const document = readFileSync(DOCUMENT, 'utf8');
  const [before, after] = [document.split(BEGIN)[0], document.split(END)[1]];
  writeFileSync(DOCUMENT, `${before}${[BEGIN, ...table, END].join('\n')}${after}`);
}
