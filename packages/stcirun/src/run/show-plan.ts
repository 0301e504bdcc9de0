/** What `--display` and `--dry-run` print: the job map and the launch plan, as text or as JSON lines. */

import {
  detectorPromises, foldHostlist, mapJson, planJson, planLaunch, promiseText, renderMap, renderPlan,
  type NamedPromise,
} from '@stci/core';
import type { LaunchPlan } from '@stci/interface';
import type { PlannedRun } from './plan-run.js';

/** What a plan is made of. */
type Planned = Pick<PlannedRun, 'request' | 'spec' | 'spares' | 'map' | 'params' | 'scope' | 'session'>;

export function showPlan(run: Planned): string {
  const { request, spec, spares, map, params, scope } = run;
  // Agents of a session run already: there is no plan of their launch.
  const what = run.session === undefined ? (request.display ?? 'all') : 'map';
  const window = params.int('launcher.window');
  const plan = (): LaunchPlan => {
    return planLaunch(spec.hosts, scope.launcher(), (hosts, part) => scope.bootTree(hosts, part));
  };
  const names = spares.map(({ name }) => name);
  let text = '';
  if (what !== 'plan') {
    const extra = names.length > 0 && { spares: names };
    if (request.json) text += jsonLine({ type: 'map', ...mapJson(spec, map), ...extra });
    else text += renderMap(spec, map) + (names.length > 0 ? `  spares: ${foldHostlist(names)}\n` : '');
  }
  if (what !== 'map') {
    const onLaunchFailure = params.string('errmgr.launch');
    const detectors = namedPromises(run);
    text += request.json
      ? jsonLine({ type: 'plan', ...planJson(spec.hosts, plan(), window), onLaunchFailure,
        ...(detectors.length > 0 && { detectors }) })
      : `${renderPlan(spec.hosts, plan(), window)}a host that does not come up: ${onLaunchFailure}\n`
        + detectors.map((promise) => `${promiseText(promise)}\n`).join('');
  }
  return text;
}

/** Of the detectors that were asked for; those that always run cost nothing. */
export function namedPromises({ scope, spec, params }: Pick<Planned, 'scope' | 'spec' | 'params'>): NamedPromise[] {
  const named = scope.detectors().filter(({ isNamed }) => isNamed);
  return detectorPromises(named, spec.hosts.length + 1, params.int('detector.latency'));
}

function jsonLine(object: object): string {
  return `${JSON.stringify(object)}\n`;
}
