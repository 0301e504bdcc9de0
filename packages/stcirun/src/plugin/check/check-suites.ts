/**
 * The tests of a plugin: the compliance suite of each component, with what can be said of it without knowing it, its
 * default parameters; and what the package's own test.js defines.
 */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  collectTests, collectTestsOf, detectorCompliance, detectorModule, errmgrCompliance, faultCompliance, firstSuspicionMs,
  launcherCompliance, notifierCompliance, serviceCompliance, topologyCompliance, type CollectedTest,
  type DetectorComponent,
} from '@stci/compliance';
import { createSelector, resolveParams } from '@stci/core';
import { topologyFramework } from '@stci/core/component';
import { parseTopology, type AnyComponent, type Topology } from '@stci/interface';
import { assembleRegistry } from '../../assembly/registry.js';

const DEFAULT = 'default parameters';
const LATENCY_MS = 5;
/** Test of a plugin's package; `stci plugin new` makes it. */
export const TEST_FILE = 'test.js';

const SUITES: Readonly<Record<string, (component: AnyComponent) => void>> = {
  topology: (component) => topologyCompliance(component, [{ label: DEFAULT, avoidsDead: false }]),
  launcher: (component) => launcherCompliance(component, [{ label: DEFAULT }]),
  notifier: (component) => notifierCompliance(component, {
    seeds: 200, topologies: assembleRegistry().components('topology'),
  }),
  errmgr: (component) => errmgrCompliance(component, [{ label: DEFAULT }]),
  fault: (component) => faultCompliance(component, [{ label: DEFAULT }]),
  service: (component) => serviceCompliance(component, [{ label: DEFAULT }]),
};

/** Tests of the component; none where its framework has no suite. */
export async function collectSuite(component: AnyComponent): Promise<readonly CollectedTest[]> {
  const { name } = component.framework;
  if (name === 'detector') return detectorTests(component as DetectorComponent);
  if (name !== 'launcherproc') return collectTests(() => SUITES[name]?.(component));
  const { launcherProcSuites } = await import('@stci/compliance/launcherproc');
  // What it starts may be a program, which a simulation does not have.
  return collectTests(() => launcherProcSuites(component, [{ label: DEFAULT, simulated: false }]));
}

/** As long as it takes to suspect one that was never heard, it may be starting. */
function detectorTests(component: DetectorComponent): readonly CollectedTest[] {
  const module = detectorModule(component);
  const topology = module.topology === '' ? undefined : topologiesOf(module.topology);
  const { detection } = module.promise({ members: 2, latencyBoundMs: LATENCY_MS, answerMs: 10 * LATENCY_MS });
  const suspicionMs = firstSuspicionMs(module, undefined, topology);
  const graceMs = Number.isFinite(suspicionMs) ? Math.max(0, suspicionMs - (detection?.minMs ?? 0)) : 0;
  const tests = collectTests(() => detectorCompliance(component, [{
    label: DEFAULT, graceMs, latencyBoundMs: LATENCY_MS, detection: detection ?? { minMs: 0, maxMs: 0 },
    ...(topology && { topology }),
  }]));
  // What promises no interval can be judged only by who knows when it reports: its author, in test.js.
  return detection === undefined ? tests.filter(({ name }) => /record$|: promise$/.test(name)) : tests;
}

function topologiesOf(text: string): (size: number) => Topology {
  const registry = assembleRegistry();
  const { params } = resolveParams(registry.catalog, { commandLine: [] }, registry.rules);
  const topologies = createSelector(registry, params).keyed(topologyFramework);
  const { kind, options } = parseTopology(text);
  return (size) => topologies.create(kind, {}, { kind, size, options });
}

/** What test.js defines; undefined: there is none, or it is not linked with this installation (`stci plugin new`). */
export async function collectOwn(path: string): Promise<readonly CollectedTest[] | undefined> {
  const file = join(path, TEST_FILE);
  if (!existsSync(file) || !isLinked(file)) return undefined;
  const { href } = pathToFileURL(file);
  return collectTestsOf(() => import(href) as Promise<unknown>);
}

function isLinked(file: string): boolean {
  try {
    const [theirs, ours] = [file, import.meta.url].map((from) => createRequire(from).resolve('@stci/compliance'));
    return theirs === ours;
  } catch {
    return false;
  }
}
