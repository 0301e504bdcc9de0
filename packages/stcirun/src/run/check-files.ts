/**
 * Files that a run reads and writes: one that is written is named once, or what it holds would be lost; and it can be
 * written, as far as that shows before.
 */

import { accessSync, constants, fstatSync, realpathSync, statfsSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expandTemplate, type OutputTemplate } from '@stci/core/iof';
import { StciError } from '@stci/interface';
import type { RunRequest } from '../cli/parse.js';
import { JOB } from '../output/open-sink.js';
import type { OutputFacts } from '../output/sink.js';
import { resolveFrom } from '../files/caller-directory.js';
import { STANDARD_INPUT } from '../files/read-file.js';
import { outputError } from '../process/output-error.js';

interface UsedFile {
  /** What the user knows it by: an option, or a standard stream. */
  readonly name: string;
  readonly path: string;
  readonly isWritten: boolean;
}

const STREAMS = ['standard input', 'standard output', 'standard error'] as const;

/** Types of file systems in which nobody makes a file, root neither: proc, sysfs. */
const FIXED: readonly number[] = [0x9fa0, 0x62656572];

/** Throws STCI_USAGE and STCI_OUTPUT_FAILED. Devices and pipes may be named as often as one likes. */
export function checkFiles(
  request: RunRequest,
  template: OutputTemplate | undefined,
  facts: OutputFacts,
  wdir: string | undefined,
): void {
  const file = (name: string, path: string, isWritten = false): UsedFile =>
    ({ name, path: resolveFrom(wdir, path, name), isWritten });
  const report = request.exitReport?.file;
  const { events } = request;
  if (report === undefined && events === undefined && template === undefined) return;
  const named = [
    ...request.hostfiles.filter((path) => path !== STANDARD_INPUT).map((path) => file('--hostfile', path)),
    ...request.am.map((path) => file('--am', path)),
    ...(report === undefined ? [] : [file('--exit-report', report, true)]),
    ...(events === undefined ? [] : [file('--events', events, true)]),
  ];
  const seen = new Map<string, UsedFile>();
  STREAMS.forEach((name, fd) => {
    const key = keyOf(() => fstatSync(fd));
    if (key !== undefined && !seen.has(key)) seen.set(key, { name, path: '', isWritten: fd > 0 });
  });
  const add = (used: UsedFile): void => {
    const key = keyOf(() => statSync(used.path), used.path);
    const before = key === undefined ? undefined : seen.get(key);
    if (key === undefined || before?.name === used.name) return;
    if (before !== undefined && (before.isWritten || used.isWritten)) refuse(before, used);
    seen.set(key, used);
  };
  named.forEach(add);
  named.filter(({ isWritten }) => isWritten).forEach(checkWritable);
  if (template === undefined) return;
  checkWritable(file('--output', outputOf(template, facts, 0, 'stdout'), true));
  const outputs = hasFields(template) ? outputsAmong(named, template, facts, wdir) : [template.text];
  for (const path of outputs) add(file('--output', path, true));
}

function hasFields({ parts }: OutputTemplate): boolean {
  return parts.some((part) => typeof part !== 'string');
}

/** Files of ranks that have the path of one that is named: no more than those, as there may be a million. */
function outputsAmong(
  named: readonly UsedFile[],
  template: OutputTemplate,
  facts: OutputFacts,
  wdir: string | undefined,
): readonly string[] {
  const paths = new Set(named.map(({ path }) => path));
  const [first] = template.parts;
  const start = resolveFrom(wdir, `${typeof first === 'string' ? first : ''}x`, '--output').slice(0, -1);
  if (named.every(({ path }) => !path.startsWith(start))) return [];
  const found: string[] = [];
  for (let rank = 0; rank < facts.size; rank += 1) {
    for (const stream of ['stdout', 'stderr']) {
      const path = outputOf(template, facts, rank, stream);
      if (paths.has(resolveFrom(wdir, path, '--output'))) found.push(path);
    }
  }
  return found;
}

/** Its process is not known yet. */
function outputOf(template: OutputTemplate, facts: OutputFacts, rank: number, stream: string): string {
  const common = { rank, host: facts.hostOf(rank), app: facts.appOf(rank), size: facts.size, pid: 0, job: JOB };
  return expandTemplate(template, { ...common, stream });
}

/** Directories that are missing are made when it is written. Throws STCI_OUTPUT_FAILED. */
function checkWritable({ path }: UsedFile): void {
  const fail = (code: string): never => {
    throw Object.assign(new Error(code), { code });
  };
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory() === true) fail('EISDIR');
    if (there?.isFile() === true) accessSync(path, constants.W_OK);
    if (there !== undefined) return;
    let above = dirname(path);
    while (statSync(above, { throwIfNoEntry: false }) === undefined) above = dirname(above);
    if (!statSync(above).isDirectory()) fail('ENOTDIR');
    if (FIXED.includes(statfsSync(above).type)) fail('ENOENT');
    accessSync(above, constants.W_OK | constants.X_OK);
  } catch (thrown) {
    throw outputError(`file ${path}`, thrown as Error);
  }
}

function refuse(a: UsedFile, b: UsedFile): never {
  throw new StciError('STCI_USAGE', `${a.name} and ${b.name} are the same file, ${b.path}. Give each its own.`);
}

/** Equal for two names of one file, also of one that does not exist yet; undefined for devices and pipes. */
function keyOf(stat: () => Stats, path?: string): string | undefined {
  try {
    const found = stat();
    return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    return path === undefined ? undefined : withRealDirectory(path);
  }
}

function withRealDirectory(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
