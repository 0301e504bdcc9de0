/**
 * Checks a plugin's package: what can be read here, and its code in a process of its own, so that code that hangs, or
 * ends its process, is a finding and nothing else.
 */

import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { Registry } from '@stci/core';
import { PLUGIN_BYTES_MAX, PLUGIN_FILES_MAX, StciError } from '@stci/interface';
import { pluginFrameworks } from '../../assembly/registry.js';
import { collectFiles } from '../collect.js';
import { MANIFEST_FILE, findPlugin } from '../find.js';
import { openPlugin, type Plugin } from '../load.js';
import type { CodeDeclaration } from '../manifest.js';
import { checkImports } from './check-imports.js';
import { CALL_SPEAKER, type CheckMessage, type Finding } from './findings.js';
import { fixManifest } from './fix-manifest.js';
import { runScript } from './run-script.js';

export interface CheckInit {
  /** Absolute. */
  readonly path: string;
  /** Components that the program has without it. */
  readonly registry: Registry;
  readonly compliance: boolean;
  /** Help and parameters of the code are written into package.json first. */
  readonly fix: boolean;
  /** Of this installation's stcirun. */
  readonly root: string;
}

export interface CheckReport {
  readonly path: string;
  readonly package?: { readonly name: string; readonly version: string; readonly api: string };
  readonly components: readonly string[];
  readonly files?: number;
  readonly bytes?: number;
  readonly hash?: string;
  /** Tests of compliance suites that passed. */
  readonly passed: number;
  readonly findings: readonly Finding[];
  /** What was written into package.json, by component. */
  readonly fixed?: readonly string[];
}

const FIRST_STEP: Extract<CheckMessage, { type: 'step' }> = {
  type: 'step', what: 'the process that loads it', file: '.', limitMs: 20_000,
};
/** Share of the bounds that is worth a warning. */
const MUCH = 0.8;

export async function checkPlugin(init: CheckInit): Promise<CheckReport> {
  const { path, compliance } = init;
  const findings: Finding[] = [];
  const { declared, findings: kept = [] }: Partial<Ran> = init.fix ? await runCode(init, 'declare') : {};
  // Code that declares nothing has said why.
  if (declared === undefined) findings.push(...kept);
  const fixed = declared && attempt(findings, 'manifest', path, () => fixManifest(path, declared)) || [];
  const blank = { path, components: [], passed: 0, findings, ...(init.fix && { fixed }) };
  const plugin = attempt(findings, 'manifest', path, () => {
    findPlugin(path, pluginFrameworks());
    return openPlugin(path, pluginFrameworks());
  });
  if (plugin === undefined) return blank;
  const { name, version, manifest: { api } } = plugin;
  const components = plugin.components.map((one) => `${one.framework.name}:${one.name}`);
  const files = attempt(findings, 'files', path, () => collectFiles(plugin));
  const bytes = files?.reduce((sum, file) => sum + file.bytes.length, 0) ?? 0;
  findings.push(...checkNames(plugin, init.registry), ...checkImports(plugin), ...checkSize(files?.length ?? 0, bytes));
  if (files !== undefined && !files.some((file) => file.path === 'README.md')) {
    const text = 'There is none. Say in it what the plugin is for, and how to try it.';
    findings.push({ level: 'warning', check: 'files', file: 'README.md', text });
  }
  const suites = compliance ? 'compliance' : undefined;
  const run = files === undefined ? { passed: 0, findings: [] } : await runCode(init, suites);
  findings.push(...run.findings);
  const hash = files === undefined ? undefined : attempt(findings, 'files', path, () => plugin.copy().hash);
  return {
    ...blank, package: { name, version, api }, components, passed: compliance ? run.passed : 0,
    ...(files && { files: files.length, bytes }), ...(hash !== undefined && { hash }),
  };
}

/** Each line of an error is a finding, of the file of the package that it begins with. */
function attempt<T>(findings: Finding[], check: Finding['check'], path: string, call: () => T): T | undefined {
  try {
    return call();
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    for (const line of thrown.message.split('\n')) {
      const text = line.startsWith(`plugin ${path}: `) ? line.slice(`plugin ${path}: `.length) : line;
      const [word = ''] = text.split(/:? /u);
      const file = word.startsWith(`${path}/`) ? relative(path, word) : MANIFEST_FILE;
      findings.push({ level: 'error', check, file, text });
    }
    return undefined;
  }
}

function checkNames(plugin: Plugin, registry: Registry): Finding[] {
  return plugin.components.flatMap(({ framework, name }): Finding[] => {
    if (!registry.components(framework.name).some((one) => one.name === name)) return [];
    const text = `${framework.name}:${name} is there without this plugin. Choose another name, in package.json and in `
      + 'the record.';
    return [{ level: 'error', check: 'names', file: MANIFEST_FILE, text }];
  });
}

function checkSize(files: number, bytes: number): Finding[] {
  if (files <= MUCH * PLUGIN_FILES_MAX && bytes <= MUCH * PLUGIN_BYTES_MAX) return [];
  const text = `${files} files of ${bytes} bytes in all: near the most there may be, ${PLUGIN_FILES_MAX} files and `
    + `${PLUGIN_BYTES_MAX} bytes. Leave out what it does not need.`;
  return [{ level: 'warning', check: 'files', file: '.', text }];
}

interface Ran {
  readonly passed: number;
  readonly findings: readonly Finding[];
  readonly declared?: readonly CodeDeclaration[];
}

/** Resolves at the process's end, which comes at the latest when a step is not done in its time. */
async function runCode({ path, root }: CheckInit, mode?: 'compliance' | 'declare'): Promise<Ran> {
  const findings: Finding[] = [];
  const ran = { passed: 0, isDone: false, declared: undefined as Ran['declared'], step: FIRST_STEP };
  const { how, said } = await runScript({
    path: join(root, 'dist/plugin/check/check-main.js'),
    args: [path, ...(mode === undefined ? [] : [mode])],
    limitMs: () => ran.step.limitMs,
    read: (told, onProgress) => createInterface({ input: told }).on('line', (line) => {
      const message = messageIn(line);
      if (message === undefined) return;
      if (message.type === 'finding') findings.push(message.finding);
      else if (message.type === 'passed') ran.passed += 1;
      else if (message.type === 'done') ran.isDone = true;
      else if (message.type === 'declared') ran.declared = message.components;
      else ran.step = message;
      onProgress();
    }),
  });
  const { passed, isDone, declared, step } = ran;
  if (!isDone) findings.push({ level: 'error', check: 'code', file: step.file, text: endText(step, how, said) });
  return { passed, findings, ...(declared && { declared }) };
}

/** Text on a process that is not done. `end`: its signal or exit code; undefined: it was killed, being late. */
function endText({ what, limitMs }: typeof FIRST_STEP, end: string | undefined, said: string): string {
  const last = said.split('\n').at(-1) ?? '';
  const remedy = 'Look for a loop or a wait that never ends.';
  const call = new RegExp(`^${CALL_SPEAKER}: plugin .*: (.+? has not returned for \\d+ ms)`, 'u').exec(last)?.[1];
  if (call !== undefined) return `${what}: ${call}. ${remedy}`;
  if (end === undefined) return `${what} did not come back within ${limitMs} ms. ${remedy}`;
  const more = last === '' ? '' : ` It said: ${last}`;
  return `${what} ended its process (${end}). A plugin's code throws errors, and ends nothing.${more}`;
}

/** The plugin's code may write there, too. */
function messageIn(line: string): CheckMessage | undefined {
  try {
    const message = JSON.parse(line) as CheckMessage | null;
    return typeof message?.type === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
