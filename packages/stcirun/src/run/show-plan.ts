/** What `--display` and `--dry-run` print: the job map and the launch plan, as text or as JSON lines. */

import { mapJson, planJson, planLaunch, renderMap, renderPlan, type Universe } from '@stci/core';
import type { JobMap, JobSpec, LaunchPlan, Params } from '@stci/interface';
import type { RunRequest } from '../cli/parse.js';

export interface ShowPlanParams {
  readonly request: RunRequest;
  readonly spec: JobSpec;
  readonly map: JobMap;
  readonly params: Params;
  readonly scope: ReturnType<Universe['scope']>;
}

export function showPlan({ request, spec, map, params, scope }: ShowPlanParams): string {
  const what = request.display ?? 'all';
  const window = params.int('launcher.window');
  const plan = (): LaunchPlan => {
    return planLaunch(spec.hosts.length, scope.launcher(), (size, arity) => scope.bootTree(size - 1, arity));
  };
  let text = '';
  if (what !== 'plan') {
    text += request.json ? jsonLine({ type: 'map', ...mapJson(spec, map) }) : renderMap(spec, map);
  }
  if (what !== 'map') {
    text += request.json
      ? jsonLine({ type: 'plan', ...planJson(spec.hosts, plan(), window) })
      : renderPlan(spec.hosts, plan(), window);
  }
  return text;
}

function jsonLine(object: object): string {
  return `${JSON.stringify(object)}\n`;
}
