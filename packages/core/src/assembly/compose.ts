/**
 * Composition: the one place where modules are resolved. A process makes one composition from its registry; each agent
 * has its own scope in it, in which every module is instantiated at its first use.
 */

import {
  parseTopology,
  sameBytes,
  type ErrorManager,
  type Facts,
  type Framework,
  type HostSpec,
  type Launcher,
  type NoDeps,
  type Params,
  type Platform,
  type TreeTopology,
} from '@stci/interface';
import {
  createParams, createSelector, paramsFromSnapshot, token, withJobParams, type ParamSnapshot, type Registry,
  type Selector,
} from '@stci/registry';
import { bootcomFramework } from '../bootcom/framework.js';
import { PLUGIN_COPIES } from '../bootcom/plugin-transfer.js';
import { detectorFramework } from '../detector/framework.js';
import type { SelectedDetector } from '../detector/selected.js';
import { bySubject } from '../errmgr/by-subject.js';
import { errmgrFramework } from '../errmgr/framework.js';
import { guarded } from '../errmgr/guarded.js';
import { hostPolicyOf } from '../errmgr/host-policy.js';
import { SUBJECTS, type Subject } from '../errmgr/kinds.js';
import { faultFramework } from '../fault/framework.js';
import { decodeParams } from '../launcher/boot-details.js';
import { launcherFramework } from '../launcher/framework.js';
import { launcherprocFramework } from '../launcher/launcherproc-framework.js';
import { ParentTree } from '../launcher/parent-tree.js';
import { Scope } from '@stci/registry/container';
import { notifierFramework } from '../notifier/framework.js';
import type { Service } from '../service/contracts.js';
import { topologyFramework } from '../topology/framework.js';
import type { AgentScope, Composition, PluginHooks } from './composition.js';

const PLATFORM = token<Platform>('platform');
const PARAMS = token<Params>('parameters');
const SELECTOR = token<Selector>('selector');
const LAUNCHER = token<Launcher>('launcher');

export function createComposition(
  own: Registry, services: readonly Service[], plugins: PluginHooks = {},
): Composition {
  let registry = own;
  const container = new Scope('process');
  container.provide(SELECTOR, (agent) =>
    createSelector(registry, agent.get(PARAMS), platformFacts(agent.get(PLATFORM))),
  );
  container.provide(LAUNCHER, (agent) => agent.get(SELECTOR).one(launcherFramework).create({}, undefined));
  let known = { encoded: new Uint8Array(), params: createParams(registry.catalog, []) };
  return {
    services,
    paramsOf: (encoded) => {
      // The agents of one process get the same parameters.
      if (!sameBytes(encoded, known.encoded)) {
        const snapshot = decodeParams(encoded);
        registry = plugins.registry?.(snapshot) ?? own;
        known = { encoded: encoded.slice(), params: paramsFromSnapshot(registry.catalog, snapshot) };
      }
      return known.params;
    },
    scope: (name, params, platform) => {
      const scope = container.createScope(name);
      scope.provideValue(PARAMS, params);
      scope.provideValue(PLATFORM, platform);
      return agentScope(registry, scope, plugins);
    },
  };
}

/** Facts of this host on which components may base their decisions. */
export function platformFacts({ env }: Platform): Facts {
  // The user's name is looked up when a component needs it: a directory service may be slow.
  return Object.freeze({
    hostname: env.hostname, get user() { return env.user; }, get variables() { return env.variables; },
  });
}

/** Those that always run, and those that were named. */
export function selectedDetectors(selector: Selector, params: Params): readonly SelectedDetector[] {
  return selector.many(detectorFramework).map(({ component, create }) => ({
    name: component.name,
    module: create({}, undefined),
    notifier: params.string(`detector.${component.name}.notifier`),
    isNamed: detectorFramework.always?.includes(component.name) !== true,
  }));
}

/** Of a framework without components nothing is asked. */
function selectedModules<Module>(
  registry: Registry, platform: Platform, framework: Framework<Module, NoDeps>, params: Params,
): readonly { readonly name: string; create(): Module }[] {
  if (registry.components(framework.name).length === 0) return [];
  const selected = createSelector(registry, params, platformFacts(platform)).many(framework);
  return selected.map(({ component: { name }, create }) => ({ name, create: () => create({}, undefined) }));
}

function copiesOf(params: Params): readonly string[] {
  return params.has(PLUGIN_COPIES) ? params.list(PLUGIN_COPIES) : [];
}

/** The agents have the session's plugins: a job may name fewer. */
function jobParams(registry: Registry, session: Params, own: ParamSnapshot, { checkJob }: PluginHooks): Params {
  const { [PLUGIN_COPIES]: copies = [], ...rest } = own;
  checkJob?.(copiesOf(session), copies as readonly string[]);
  return withJobParams(registry.catalog, session, rest);
}

/** An agent's interface to its scope. */
function agentScope(registry: Registry, scope: Scope, plugins: PluginHooks): AgentScope {
  const selector = (): Selector => scope.get(SELECTOR);
  const topology = ({ kind, options }: ReturnType<typeof parseTopology>, size: number) =>
    selector().keyed(topologyFramework).create(kind, {}, { kind, size, options });
  const topologyOf = (text: string, size: number) => topology(parseTopology(text), size);
  let detectors: readonly SelectedDetector[] | undefined;
  return {
    bootTree: (hosts, part) => {
      if (!('arity' in part)) return new ParentTree(hosts + 1, part);
      return topology({ kind: 'tree', options: { arity: part.arity } }, hosts + 1) as TreeTopology;
    },
    launcher: () => scope.get(LAUNCHER),
    pluginArchive: (index) => {
      const copy = copiesOf(scope.get(PARAMS))[index];
      return copy === undefined ? undefined : plugins.archive?.(copy);
    },
    jobParams: (own) => {
      const session = scope.get(PARAMS);
      return own === undefined ? session : jobParams(registry, session, own, plugins);
    },
    errorManager: (params) => {
      const select = (chosen: Params): ErrorManager => {
        const selected = createSelector(registry, chosen, platformFacts(scope.get(PLATFORM))).one(errmgrFramework);
        const manager = selected.create({ hosts: hostPolicyOf(params) }, undefined);
        return guarded(manager, (text) => scope.get(PLATFORM).log.write('warn', text));
      };
      const own = SUBJECTS.flatMap((subject) => {
        const names = params.list(`errmgr.${subject}`);
        if (names.length === 0) return [];
        return [[subject, select(withJobParams(registry.catalog, params, { errmgr: names }))]];
      });
      return bySubject(select(params), Object.fromEntries(own) as Partial<Record<Subject, ErrorManager>>);
    },
    detectors: () => (detectors ??= selectedDetectors(selector(), scope.get(PARAMS))),
    notifier: (name) => selector().keyed(notifierFramework).create(name, {}, undefined),
    fault: (kind) => selector().keyed(faultFramework).create(kind, {}, undefined),
    selected: (framework, params) => selectedModules(registry, scope.get(PLATFORM), framework, params),
    topologyOf,
    bootcom: (kind) => selector().keyed(bootcomFramework).create(kind, { platform: scope.get(PLATFORM) }, undefined),
    launchMethod: (hosts) => selector().keyed(launcherprocFramework).best({ hosts }).component.name,
    launcherProc: (hosts: readonly HostSpec[], inline) => {
      const chosen = selector().keyed(launcherprocFramework).best({ hosts });
      const leaseMs = scope.get(PARAMS).int('bootcom.lease');
      return chosen.create({ platform: scope.get(PLATFORM), inline, leaseMs }, { hosts });
    },
  };
}
