/** The compliance suite of any component, with what can be said of it without knowing it: its default parameters. */

import {
  collectTests, detectorCompliance, errmgrCompliance, faultCompliance, launcherCompliance, notifierCompliance,
  topologyCompliance, type CollectedTest,
} from '@stci/compliance';
import type { AnyComponent } from '@stci/interface';

const DEFAULT = 'default parameters';

const SUITES: Readonly<Record<string, (component: AnyComponent) => void>> = {
  topology: (component) => topologyCompliance(component, [{ label: DEFAULT, avoidsDead: false, largeSizes: [1000] }]),
  launcher: (component) => launcherCompliance(component, [{ label: DEFAULT }]),
  detector: (component) => detectorCompliance(component, [{ label: DEFAULT, seeds: 5 }]),
  notifier: (component) => notifierCompliance(component, { seeds: 100 }),
  errmgr: (component) => errmgrCompliance(component, [{ label: DEFAULT }]),
  fault: (component) => faultCompliance(component, [{ label: DEFAULT }]),
};

/** Its tests; none where its framework has no suite. */
export async function collectSuite(component: AnyComponent): Promise<readonly CollectedTest[]> {
  const { name } = component.framework;
  if (name !== 'launcherproc') return collectTests(() => SUITES[name]?.(component));
  const { launcherProcSuites } = await import('@stci/compliance/launcherproc');
  return collectTests(() => launcherProcSuites(component, [{ label: DEFAULT }]));
}
