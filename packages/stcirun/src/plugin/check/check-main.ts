/**
 * The process in which `stci plugin check` runs a plugin's code: loads each component, asks it, makes it; with
 * `compliance`, runs its framework's suite. Started by check-plugin.ts, not bundled: the suites and the plugin use the
 * same modules of STCI.
 */

import { writeSync } from 'node:fs';
import { quote } from '@stci/core';
import type { CollectedTest } from '@stci/compliance';
import type { AnyComponent } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { pluginFrameworks } from '../../assembly/registry.js';
import { codeDeclarations, openPlugin } from '../load.js';
import { watchPlugins } from '../watch.js';
import { CALL_SPEAKER, type CheckMessage, type Finding } from './findings.js';
import { TOLD_FD } from './run-script.js';

/** One call, of processor time where others compete for it; what is made of several takes longer. */
const CALL_MS = 5000;
const STEP_MS = 6 * CALL_MS;
const SUITE_MS = 120_000;

/** Needs of `create`, as far as its framework wants something. */
const NEEDS: Readonly<Record<string, (name: string) => { readonly deps?: object; readonly request?: object }>> = {
  topology: (kind) => ({ request: { kind, size: 8 } }),
  launcherproc: () => ({
    deps: { platform: createNodePlatform(), inline: () => undefined, leaseMs: 10_000 }, request: { hosts: [] },
  }),
  errmgr: () => ({
    deps: { hosts: {
      launch: 'abort', launchRetries: 2, launchMin: 1, loss: 'leave-out', lossRetries: 5, lossPauseMs: 1000,
    } },
  }),
};

/** At once: what follows may hang, or end this process. */
function tell(message: CheckMessage): void {
  writeSync(TOLD_FD, `${JSON.stringify(message)}\n`);
}

function step(what: string, file: string, limitMs: number): void {
  tell({ type: 'step', what, file, limitMs });
}

function add(file: string, check: Finding['check'], thrown: unknown): void {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  tell({ type: 'finding', finding: { level: 'error', check, file, text } });
}

/** What the streams get while `call` runs; it is passed on. */
function printedIn<T>(call: () => T): readonly [result: T, printed: string] {
  let printed = '';
  const release = [process.stdout, process.stderr].map((stream) => {
    const { write } = stream;
    stream.write = ((...args: Parameters<typeof write>) => {
      printed += String(args[0]);
      return Reflect.apply(write, stream, args);
    }) as typeof write;
    return () => (stream.write = write);
  });
  try {
    return [call(), printed.trim()];
  } finally {
    for (const one of release) one();
  }
}

function checkComponent(component: AnyComponent, file: string): boolean {
  const { framework, name, params } = component;
  const label = `${framework.name}:${name}`;
  const defaults = Object.fromEntries(Object.entries(params).map(([param, spec]) => [param, spec.default]));
  const { deps = {}, request } = NEEDS[framework.name]?.(name) ?? {};
  try {
    step(`${label}: import and query`, file, STEP_MS);
    const [verdict, printed] = printedIn(() =>
      component.query({ params: defaults, request, facts: {}, named: true }));
    if (printed !== '') {
      const text = `${label}: import or query prints ${quote(printed.split('\n', 1)[0] as string)}: each stcirun that `
        + 'has the plugin will print it. Leave it out.';
      tell({ type: 'finding', finding: { level: 'warning', check: 'code', file, text } });
    }
    if (!verdict.accept) {
      const text = `${label} declines with its default parameters, though it is named: ${verdict.reason}. Choose `
        + 'defaults that work, if there are any.';
      tell({ type: 'finding', finding: { level: 'warning', check: 'code', file, text } });
    }
    step(`${label}: create`, file, STEP_MS);
    component.create(deps, defaults, request);
    return true;
  } catch (thrown) {
    add(file, 'code', thrown);
    return false;
  }
}

async function runTests(tests: readonly CollectedTest[], file: string): Promise<void> {
  const { onExample } = await import('@stci/compliance');
  for (const test of tests) {
    const what = `${test.suite} › ${test.name}`;
    step(what, file, SUITE_MS);
    onExample((example) => step(`${what}: ${example}`, file, SUITE_MS));
    const thrown = await test.run();
    if (thrown.length === 0) tell({ type: 'passed' });
    for (const each of thrown) add(file, 'compliance', each);
  }
}

async function main(): Promise<void> {
  const [path = '', mode] = process.argv.slice(2);
  const compliance = mode === 'compliance' ? mode : undefined;
  // The thread names a call that does not return, and ends this process.
  watchPlugins({ timeoutMs: CALL_MS, speaker: CALL_SPEAKER, onFault: () => undefined });
  if (mode === 'declare') {
    step('the load of its modules', '.', STEP_MS);
    tell({ type: 'declared', components: codeDeclarations(path, pluginFrameworks()) });
    process.exit(0);
  }
  const plugin = openPlugin(path, pluginFrameworks());
  for (const [index, component] of plugin.components.entries()) {
    const file = plugin.manifest.components[index]?.module ?? '.';
    if (!checkComponent(component, file) || compliance === undefined) continue;
    const { collectSuite } = await import('./check-suites.js');
    await runTests(await collectSuite(component), file);
  }
  if (compliance !== undefined) {
    const { TEST_FILE, collectOwn } = await import('./check-suites.js');
    step(`the import of ${TEST_FILE}`, TEST_FILE, STEP_MS);
    await runTests(await collectOwn(path) ?? [], TEST_FILE);
  }
  tell({ type: 'done' });
  process.exit(0);
}

main().catch((thrown: unknown) => {
  add('.', 'code', thrown);
  tell({ type: 'done' });
  process.exit(0);
});
