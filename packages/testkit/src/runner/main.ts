/**
 * The test runner: runs every compiled test file of the workspace in its own process, a few at a time. Exit code 0 only
 * if at least one test passed and none failed; the last line printed is always the count. A signal that asks it to end
 * ends what it has started first.
 */

import { basename, dirname, join, resolve } from 'node:path';
import { appendFileSync, existsSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { PATIENCE_MAX, PATIENCE_VARIABLE } from '@stci/compliance/patience';
import { MARK_VARIABLE } from '@stci/compliance/record';
import { findTestFiles, isChosen, testFile } from './find.js';
import type { TestFile } from './find.js';
import { parseOptions } from './options.js';
import type { RunnerOptions } from './options.js';
import { endAll } from './leftovers.js';
import { filesPerCore, poolOptions, runPool } from './pool.js';
import { count, failureLines, fileLines, skippedLines, slowestLine, totalLine } from './report.js';
import type { Totals } from './report.js';
import { runFile } from './run-file.js';
import type { FileReport } from './run-file.js';
import { exitCodeOf, interruptible, type EndSignal } from './signals.js';

/**
 * Runs the tests that `args` select below `root`; resolves to the exit code. `beside` starts what runs beside them,
 * such as lint, and resolves to its failures: each counts as one failed.
 */
export async function runTests(
  root: string,
  args: readonly string[],
  beside: () => Promise<readonly string[]> = () => Promise.resolve([]),
): Promise<number> {
  const run: Run = { root, mark: [process.env[MARK_VARIABLE] ?? [], process.pid].flat().join('/'), reports: [] };
  process.env[MARK_VARIABLE] = run.mark;
  // A reader that a Ctrl-C has ended as well is no error of this process.
  process.stdout.on('error', () => undefined);
  let code = 0;
  const work = async (): Promise<void> => {
    code = await runSelected(run, args, beside());
  };
  await interruptible(work, (signal) => {
    run.signal = signal;
    return endAll(run.mark);
  });
  return code;
}

interface Run {
  readonly root: string;
  /** Of all processes that it starts. */
  readonly mark: string;
  readonly reports: FileReport[];
  /** Came, and nothing is started any more. */
  signal?: EndSignal;
}

async function runSelected(run: Run, args: readonly string[], beside: Promise<readonly string[]>): Promise<number> {
  let files: readonly TestFile[];
  try {
    const options = parseOptions(args);
    files = choose(run.root, options);
    await runAll(run, files, options);
  } catch (error) {
    print([`error: ${error instanceof Error ? error.message : String(error)}`]);
    print([totalLine(withMore(count(run.reports), 1 + (await beside).length))]);
    return run.signal === undefined ? 2 : exitCodeOf(run.signal);
  }
  const failedBeside = await beside;
  const { reports, signal } = run;
  if (signal === undefined) return conclude(reports, failedBeside);
  conclude(reports, [`interrupted by ${signal}: ${reports.length} of ${files.length} files were done`]);
  return exitCodeOf(signal);
}

/** The files to run; throws if there is none. */
function choose(root: string, options: RunnerOptions): TestFile[] {
  if (options.files.length > 0) return options.files.map((path) => explicit(root, path, options.timeoutMs));
  const found = findTestFiles(root, options.timeoutMs);
  const { words, others } = options;
  const chosen = found.filter((file) => isChosen(file, words, others));
  if (chosen.length > 0) return chosen;
  if (found.length === 0) throw new Error('no compiled test files: run npm run build');
  throw new Error(`no test file's path contains ${words.join(' or ')}; there are ${found.length} files`);
}

/** A compiled file given by its path: its source is in test, beside dist-test. */
function explicit(root: string, path: string, timeoutMs: number): TestFile {
  const compiled = resolve(path);
  if (!existsSync(compiled)) throw new Error(`there is no compiled test file ${path}`);
  const source = join(dirname(compiled).replace(/dist-test/, 'test'), basename(compiled).replace(/\.js$/, '.ts'));
  return testFile(root, compiled, existsSync(source) ? source : compiled, timeoutMs);
}

async function runAll(run: Run, files: readonly TestFile[], options: RunnerOptions): Promise<void> {
  const pool = { ...poolOptions(options.jobs), isStopped: () => run.signal !== undefined };
  // Deadlines are those of a test that has a core to itself.
  process.env[PATIENCE_VARIABLE] ||= String(Math.min(PATIENCE_MAX, filesPerCore(pool)));
  await runPool(inOrder(files, options.shuffle), pool, async (file) => {
    const report = await runFile(file, options.grep, run.mark);
    if (pool.isStopped()) return;
    run.reports.push(report);
    print(fileLines(report));
    if (options.report !== undefined) appendFileSync(options.report, `${JSON.stringify(report)}\n`);
  });
}

/** Files that may take longest first, so that none of them is left for the end; or as the seed decides. */
function inOrder(files: readonly TestFile[], seed: number | undefined): TestFile[] {
  if (seed === undefined) return [...files].sort((a, b) => b.timeoutMs - a.timeoutMs);
  const rank = ({ label }: TestFile): string => createHash('sha256').update(`${seed} ${label}`).digest('hex');
  return [...files].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function conclude(reports: readonly FileReport[], failedBeside: readonly string[]): number {
  print([...reports].sort((a, b) => (a.file.label < b.file.label ? -1 : 1)).flatMap(failureLines));
  print(['', slowestLine(reports), ...skippedLines(reports)]);
  const tested = count(reports);
  const hasNone = tested.passed + tested.failed + failedBeside.length === 0;
  const errors = hasNone ? ['no test ran'] : failedBeside;
  const totals = withMore(tested, errors.length);
  print([...errors.map((text) => `error: ${text}`), totalLine(totals)]);
  return totals.failed === 0 ? 0 : 1;
}

function withMore(totals: Totals, failed: number): Totals {
  return { ...totals, failed: totals.failed + failed };
}

function print(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}
