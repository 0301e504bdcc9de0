/** What `--display` and `--dry-run` print: the job map and the launch plan, as text or as JSON lines. */

import { foldHostlist, mapJson, planJson, planLaunch, renderMap, renderPlan, type Composition } from '@stci/core';
import type { JobMap, JobSpec, LaunchPlan, Params } from '@stci/interface';
import type { RunRequest } from '../cli/parse.js';

export interface ShowPlanParams {
  readonly request: RunRequest;
  readonly spec: JobSpec;
  readonly map: JobMap;
  readonly params: Params;
  readonly scope: ReturnType<Composition['scope']>;
}

export function showPlan({ request, spec, map, params, scope }: ShowPlanParams): string {
  const what = request.display ?? 'all';
  const window = params.int('launcher.window');
  const plan = (): LaunchPlan => {
    return planLaunch(spec.hosts.length, scope.launcher(), (size, arity) => scope.bootTree(size - 1, arity));
  };
  const spares = (spec.spares ?? []).map(({ name }) => name);
  let text = '';
  if (what !== 'plan') {
    if (request.json) text += jsonLine({ type: 'map', ...mapJson(spec, map), ...(spares.length > 0 && { spares }) });
    else text += renderMap(spec, map) + (spares.length > 0 ? `  spares: ${foldHostlist(spares)}\n` : '');
  }
  if (what !== 'map') {
    const onLaunchFailure = scope.bootstrapPolicy().policy;
    text += request.json
      ? jsonLine({ type: 'plan', ...planJson(spec.hosts, plan(), window), onLaunchFailure })
      : `${renderPlan(spec.hosts, plan(), window)}a host that does not come up: ${onLaunchFailure}\n`;
  }
  return text;
}

function jsonLine(object: object): string {
  return `${JSON.stringify(object)}\n`;
}
