/**
 * What `stci info [framework[:component]] [--json] [--why]` shows, as plain data: `--json` prints this object as it
 * is, so its shape is a promise (`format` grows when it changes). The text form is in info-text.ts.
 */

import { StciError, defined } from '@stci/interface';
import type {
  Facts,
  AnyComponent,
  Params,
  ParamSource,
  ParamSpec,
  ParamType,
  ParamValue,
  SelectionMode,
} from '@stci/interface';
import type { CatalogEntry } from '../config/catalog.js';
import { didYouMean, didYouMeanDotted } from '../config/nearest.js';
import { quote } from '../config/problems.js';
import { selectionList } from '../config/selection-list.js';
import { formatBounds, formatValue } from '../config/values.js';
import { askAll, exclusion, listOrigin } from './candidates.js';
import type { Candidate, ListOrigin } from './candidates.js';
import type { Registry } from './registry.js';

export interface InfoParam {
  readonly name: string;
  readonly type: ParamType;
  /** In memory: durations in ms, sizes in bytes, lists as arrays. */
  readonly value: ParamValue;
  /** As a user writes it: `10s`, `64KiB`, `a,b`. */
  readonly text: string;
  readonly default: ParamValue;
  readonly defaultText: string;
  /** `1..1024`, `process|inline`; left out where there are none. */
  readonly bounds?: string;
  readonly scope: 'session' | 'job' | 'front-end';
  readonly source: ParamSource;
  readonly origin?: string;
  readonly help: string;
}

export interface InfoComponent {
  readonly name: string;
  readonly version: string;
  readonly help: string;
  readonly params: readonly InfoParam[];
  /** What is given with each use, such as those of an injected fault. */
  readonly args?: readonly InfoParam[];
}

export interface InfoCandidate {
  readonly name: string;
  /** `when made`: a keyed framework asks again each time an object is made, about that object. */
  readonly verdict: Candidate['verdict'] | 'when made';
  readonly priority?: number;
  readonly reason?: string;
  /** True for what a selection takes: the first that accepts (one), all that accept (many). */
  readonly chosen: boolean;
}

export interface InfoWhy {
  /** The selection list, and where it came from. */
  readonly list: ListOrigin;
  /** In order of preference. */
  readonly candidates: readonly InfoCandidate[];
}

export interface InfoFramework {
  readonly name: string;
  readonly mode: SelectionMode;
  readonly version: number;
  readonly help: string;
  readonly params: readonly InfoParam[];
  readonly components: readonly InfoComponent[];
  /** With `why` only. */
  readonly why?: InfoWhy;
}

/** Parameters that belong to no framework. */
export type InfoGroup = Pick<InfoFramework, 'name' | 'help' | 'params'>;

/** A file of parameters that was looked for; `reason`: why an existing one is not used. */
export interface ConfigFile {
  readonly source: ParamSource;
  readonly path: string;
  readonly state: 'read' | 'absent' | 'ignored' | 'unreadable';
  readonly reason?: string;
}

export interface Info {
  readonly format: 1;
  /** Without a target only, from high to low. */
  readonly files?: readonly ConfigFile[];
  readonly frameworks: readonly InfoFramework[];
  readonly groups: readonly InfoGroup[];
}

/** A framework or group, or one component of a framework; or the name of a parameter, in place of a framework. */
export interface InfoTarget {
  readonly framework: string;
  readonly component?: string;
}

export interface DescribeOptions {
  /** undefined: everything. */
  readonly target?: InfoTarget | undefined;
  readonly why?: boolean;
  readonly facts?: Facts;
  readonly files?: readonly ConfigFile[];
  /** By framework: what keyed components shall be asked about, where the caller has it. */
  readonly requests?: Readonly<Record<string, unknown>>;
}

/** Reads `launcher` or `launcher:tree`. Throws STCI_USAGE on any other form. */
export function parseInfoTarget(text: string): InfoTarget {
  const match = /^([^:\s]+)(?::([^:\s]+))?$/.exec(text);
  const [, framework, component] = match ?? [];
  if (framework === undefined) {
    const message = `${quote(text)} is not a name. Expected a framework or framework:component, such as launcher:tree.`;
    throw new StciError('STCI_USAGE', message);
  }
  return component === undefined ? { framework } : { framework, component };
}

/** Throws STCI_MCA_FRAMEWORK_UNKNOWN or STCI_MCA_COMPONENT_UNKNOWN with the nearest names. */
export function describe(registry: Registry, params: Params, options: DescribeOptions = {}): Info {
  const param = paramOf(registry, options.target);
  const target = param === undefined ? options.target : parseInfoTarget(param.owner);
  const reader = createReader(registry, params, param?.name);
  if (target !== undefined) checkTarget(registry, target);
  const wanted = (name: string): boolean => target === undefined || target.framework === name;
  const frameworks = registry.frameworks.filter(({ name }) => wanted(name)).map(({ name, mode, version, help }) => {
    const all = registry.components(name).filter((component) => isTarget(target, component));
    const components = param !== undefined && target?.component === undefined ? [] : all;
    return {
      name,
      mode,
      version,
      help,
      params: target?.component === undefined ? reader(name) : [],
      components: components.map((component) => describeComponent(component, reader)),
      ...(options.why === true && { why: explain(registry, params, name, options) }),
    };
  });
  const groups = registry.groups.filter(({ name }) => wanted(name)).map(({ name, help }) => {
    return { name, help, params: reader(name) };
  });
  const files = target === undefined ? options.files : undefined;
  return { format: 1, ...(files !== undefined && { files }), frameworks, groups };
}

/** The parameter that is named, if it is one, and no framework or group. */
function paramOf(registry: Registry, target: InfoTarget | undefined): CatalogEntry | undefined {
  if (target === undefined || target.component !== undefined) return undefined;
  const isOther = [...registry.frameworks, ...registry.groups].some(({ name }) => name === target.framework);
  return isOther ? undefined : registry.catalog.get(target.framework);
}

function checkTarget(registry: Registry, target: InfoTarget): void {
  const groups = registry.groups.map((group) => group.name);
  if (groups.includes(target.framework) && target.component === undefined) return;
  const frameworks = registry.frameworks.map((framework) => framework.name);
  if (frameworks.includes(target.framework)) {
    if (target.component !== undefined) registry.component(target.framework, target.component);
    return;
  }
  const isGroup = groups.includes(target.framework);
  const names = isGroup ? frameworks : [...frameworks, ...groups];
  const wrong = isGroup
    ? `${target.framework} is a group, and only frameworks have components.`
    : `Unknown framework or group ${quote(target.framework)}.${nearNames(registry, target, names)}`;
  const message = `${wrong} There are: ${names.join(', ')}.`;
  throw new StciError('STCI_MCA_FRAMEWORK_UNKNOWN', message, { data: { name: target.framework } });
}

/** A dotted name is meant as a parameter's. */
function nearNames(registry: Registry, { framework, component }: InfoTarget, names: readonly string[]): string {
  const isParam = component === undefined && framework.includes('.');
  return isParam ? didYouMeanDotted(framework, [...registry.catalog.keys()]) : didYouMean(framework, names);
}

function isTarget(target: InfoTarget | undefined, component: AnyComponent): boolean {
  return target?.component === undefined || target.component === component.name;
}

function describeComponent(component: AnyComponent, reader: (owner: string) => InfoParam[]): InfoComponent {
  const { name, version, help, args } = component;
  const params = reader(`${component.framework.name}:${name}`);
  if (args === undefined) return { name, version, help, params };
  const described = Object.entries(args).map(([arg, spec]) =>
    describeParam(arg, spec, { value: spec.default, source: 'default' }));
  return { name, version, help, params, args: described };
}

/** Parameters by owner; `only`: that one. */
function createReader(registry: Registry, params: Params, only?: string): (owner: string) => InfoParam[] {
  const resolved = new Map(params.entries().map((param) => [param.name, param]));
  return (owner) => {
    const own = [...registry.catalog.values()].filter((entry) =>
      entry.owner === owner && (only === undefined || entry.name === only));
    return own.map(({ name, spec }) => {
      const param = resolved.get(name) ?? { value: spec.default, source: 'default' as const };
      return describeParam(name, spec, param);
    });
  };
}

function describeParam(
  name: string,
  spec: ParamSpec,
  param: { readonly value: ParamValue; readonly source: ParamSource; readonly origin?: string },
): InfoParam {
  const bounds = formatBounds(spec);
  return {
    name,
    type: spec.type,
    value: param.value,
    text: formatValue(spec, param.value),
    default: spec.default,
    defaultText: formatValue(spec, spec.default),
    ...(bounds !== '' && { bounds }),
    scope: spec.scope ?? 'session',
    source: param.source,
    ...(param.origin !== undefined && { origin: param.origin }),
    help: spec.help,
  };
}

function explain(registry: Registry, params: Params, name: string, options: DescribeOptions): InfoWhy {
  const { mode } = registry.framework(name);
  const components = registry.components(name);
  const list = listOrigin(params, name);
  const request = options.requests?.[name];
  if (mode === 'keyed' && request === undefined) return { list, candidates: unasked(components, list) };
  const found = askAll(components, list, params, options.facts ?? {}, request);
  // A component that the user named and that declines is an error, so none is chosen.
  const isRefused = found.candidates.some(({ named, verdict }) => named && verdict === 'declined');
  const candidates = found.candidates.map(({ component, verdict, priority, reason }, index) => ({
    name: component.name,
    verdict,
    ...defined({ priority, reason }),
    chosen: verdict === 'accepted' && (mode === 'keyed' || !isRefused) && (mode === 'many' || index === 0),
  }));
  return { list, candidates };
}

function unasked(components: readonly AnyComponent[], list: ListOrigin): InfoCandidate[] {
  const selection = selectionList(list.items);
  return components.map(({ name }) => {
    const reason = exclusion(selection, name);
    if (reason === undefined) return { name, verdict: 'when made', chosen: false };
    return { name, verdict: 'excluded', reason, chosen: false };
  });
}
