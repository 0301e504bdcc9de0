/** What `--display` and `--dry-run` print: the job map and the launch plan, as text or as JSON lines. */

import {
  detectorPromises, foldHostlist, mapJson, planJson, planLaunch, promiseText, renderMap, renderPlan, type Composition,
  type NamedPromise,
} from '@stci/core';
import type { AllocatedJob, HostSpec, JobMap, LaunchPlan, Params } from '@stci/interface';
import type { RunRequest } from '../cli/parse.js';

export interface ShowPlanParams {
  readonly request: RunRequest;
  readonly spec: AllocatedJob;
  readonly spares: readonly HostSpec[];
  readonly map: JobMap;
  readonly params: Params;
  readonly scope: ReturnType<Composition['scope']>;
  /** The agents run already: there is no plan of their launch. */
  readonly hasAgents: boolean;
}

export function showPlan({ request, spec, spares, map, params, scope, hasAgents }: ShowPlanParams): string {
  const what = hasAgents ? 'map' : (request.display ?? 'all');
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
    const detectors = namedPromises(scope, spec.hosts.length + 1, params);
    text += request.json
      ? jsonLine({ type: 'plan', ...planJson(spec.hosts, plan(), window), onLaunchFailure,
        ...(detectors.length > 0 && { detectors }) })
      : `${renderPlan(spec.hosts, plan(), window)}a host that does not come up: ${onLaunchFailure}\n`
        + detectors.map((promise) => `${promiseText(promise)}\n`).join('');
  }
  return text;
}

/** Of the detectors that were asked for; those that always run cost nothing. */
export function namedPromises(scope: ShowPlanParams['scope'], members: number, params: Params): NamedPromise[] {
  const named = scope.detectors().filter(({ isNamed }) => isNamed);
  return detectorPromises(named, members, params.int('detector.latency'));
}

function jsonLine(object: object): string {
  return `${JSON.stringify(object)}\n`;
}
