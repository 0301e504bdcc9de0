/** What `--display` and `--dry-run` print: the job map and the launch plan, as text or as JSON lines. */

import {
  HostBinding, detectorPromises, foldHostlist, mapJson, planJson, planLaunch, pmiFramework, promiseRequest, promiseText,
  ranksOf, readTopology, renderMap, renderPlan, ruleOf, ruleText, wishOf, type BindingRule, type NamedPromise,
} from '@stci/core';
import type { LaunchPlan } from '@stci/interface';
import type { PlannedRun } from './plan-run.js';

/** What a plan is made of. */
type Planned = Pick<
  PlannedRun, 'request' | 'spec' | 'spares' | 'map' | 'params' | 'scope' | 'session' | 'platform' | 'isHere'
>;

export function showPlan(run: Planned): string {
  const { request, spec } = run;
  // Agents of a session run already: there is no plan of their launch.
  const what = run.session === undefined ? (request.display ?? 'all') : 'map';
  let text = '';
  if (what !== 'plan') text += request.json ? jsonLine({ type: 'map', ...mapObject(run) }) : mapText(run);
  if (what === 'map') return text;
  if (request.json) return text + jsonLine({ type: 'plan', ...planObject(run) });
  return `${text}${renderPlan(spec.hosts, launchPlan(run), window(run))}`
    + `a host that does not come up: ${run.params.string('errmgr.launch')}\n`
    + `MPI libraries: ${offered(run).join(', ') || 'none'}\n`
    + namedPromises(run).map((promise) => `${promiseText(promise)}\n`).join('');
}

type MapObject = ReturnType<typeof mapJson> & { readonly spares?: readonly string[]; readonly binding?: BindingRule };

/** Where the ranks run, as `--display=map --json` has it. */
export function mapObject(
  { spec, map, spares, params }: Pick<Planned, 'spec' | 'map' | 'spares' | 'params'>,
): MapObject {
  const binding = ruleOf(wishOf(params));
  return {
    ...mapJson(spec, map),
    ...(spares.length > 0 && { spares: spares.map(({ name }) => name) }),
    ...(binding.to !== 'none' && { binding }),
  };
}

function mapText(run: Planned): string {
  const { spec, map, spares } = run;
  const names = spares.map(({ name }) => name);
  return renderMap(spec, map) + (names.length > 0 ? `  spares: ${foldHostlist(names)}\n` : '') + bindingText(run);
}

/** Of other hosts the processors are not known here. Throws STCI_BINDING_IMPOSSIBLE for this one. */
function bindingText({ map, params, session, platform, isHere }: Planned): string {
  const rule = ruleOf(wishOf(params));
  if (rule.to === 'none') return '';
  const here = session === undefined ? map.hosts.filter(({ name }) => isHere(name)) : [];
  const lines = here.flatMap((host) => {
    const ranks = [...ranksOf(host)];
    const topology = readTopology((path) => platform.env.systemText(path));
    const binding = new HostBinding(topology, rule, ranks.length, host.name);
    return ranks.map((rank, localRank) => `    rank ${rank} to ${binding.of(localRank)?.report}\n`);
  });
  return `  binding: ${ruleText(rule)}\n${lines.join('')}`;
}

/** How agents are started, as `--display=plan --json` has it. */
export function planObject(run: Planned) {
  const detectors = namedPromises(run);
  return {
    ...planJson(run.spec.hosts, launchPlan(run), window(run)),
    onLaunchFailure: run.params.string('errmgr.launch'),
    mpi: offered(run),
    ...(detectors.length > 0 && { detectors }),
  };
}

/** Protocols in which MPI libraries may speak with their agents. */
const offered = ({ scope, params }: Planned): string[] => scope.selected(pmiFramework, params).map(({ name }) => name);

const window = ({ params }: Planned): number => params.int('launcher.window');

function launchPlan({ spec, scope }: Planned): LaunchPlan {
  return planLaunch(spec.hosts, scope.launcher(), (hosts, part) => scope.bootTree(hosts, part));
}

/** Promises of the detectors that were asked for; those that always run cost nothing. */
export function namedPromises({ scope, spec, params }: Pick<Planned, 'scope' | 'spec' | 'params'>): NamedPromise[] {
  const named = scope.detectors().filter(({ isNamed }) => isNamed);
  return detectorPromises(named, promiseRequest(params, spec.hosts.length + 1));
}

function jsonLine(object: object): string {
  return `${JSON.stringify(object)}\n`;
}
