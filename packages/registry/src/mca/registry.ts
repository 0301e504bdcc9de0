/**
 * The registry: all frameworks, components and groups of one program, checked once when it is made, never changed
 * after. It holds no values and no modules, so one registry may serve many agents of one process.
 */

import { StciError } from '@stci/interface';
import type { AnyComponent, AnyFramework } from '@stci/interface';
import { isPlainName } from '../config/catalog.js';
import type { ParamCatalog, ParamGroup, ParamRule } from '../config/catalog.js';
import { didYouMean } from '../config/nearest.js';
import { quote } from '../config/problems.js';
import { buildCatalog } from './build-catalog.js';

export interface RegistryInit {
  readonly frameworks: readonly AnyFramework[];
  readonly components: readonly AnyComponent[];
  readonly groups?: readonly ParamGroup[];
  readonly rules?: readonly ParamRule[];
}

export interface Registry {
  /** All sorted by name. */
  readonly frameworks: readonly AnyFramework[];
  readonly groups: readonly ParamGroup[];
  readonly catalog: ParamCatalog;
  readonly rules: readonly ParamRule[];
  /** Throws STCI_MCA_FRAMEWORK_UNKNOWN with the nearest names. */
  framework(name: string): AnyFramework;
  /** Components of a framework, by name. Throws STCI_MCA_FRAMEWORK_UNKNOWN. */
  components(frameworkName: string): readonly AnyComponent[];
  /** Throws STCI_MCA_FRAMEWORK_UNKNOWN or STCI_MCA_COMPONENT_UNKNOWN with the nearest names. */
  component(frameworkName: string, name: string): AnyComponent;
}

type Named = { readonly name: string };

const byName = (a: Named, b: Named): number => (a.name < b.name ? -1 : 1);

/** Throws STCI_MCA_DUPLICATE, _INVALID, _VERSION or _FRAMEWORK_UNKNOWN: errors in how the program is assembled. */
export function createRegistry(init: RegistryInit): Registry {
  const groups = Object.freeze([...(init.groups ?? [])].sort(byName));
  const frameworks = Object.freeze([...init.frameworks].sort(byName));
  checkNames('framework or group', [...frameworks, ...groups]);
  const ofFramework = new Map<string, readonly AnyComponent[]>();
  for (const component of init.components) checkComponent(frameworks, component);
  for (const { name } of frameworks) {
    const own = init.components.filter((component) => component.framework.name === name).sort(byName);
    checkNames(`${name} component`, own);
    ofFramework.set(name, Object.freeze(own));
  }
  const rules = Object.freeze([...(init.rules ?? []), ...groups.flatMap((group) => group.rules ?? [])]);
  const catalog = buildCatalog(frameworks, ofFramework, groups);
  checkRules(catalog, rules);

  function components(frameworkName: string): readonly AnyComponent[] {
    return ofFramework.get(frameworkName) ?? unknownFramework(frameworkName, frameworks);
  }

  return Object.freeze({
    frameworks,
    groups,
    catalog,
    rules,
    components,
    framework: (name: string) => {
      return frameworks.find((framework) => framework.name === name) ?? unknownFramework(name, frameworks);
    },
    component: (frameworkName: string, name: string) => {
      const own = components(frameworkName);
      return own.find((component) => component.name === name) ?? unknownComponent(frameworkName, name, own);
    },
  });
}

function checkNames(what: string, records: readonly Named[]): void {
  for (const [index, { name }] of records.entries()) {
    if (!isPlainName(name)) {
      const message = `${quote(name)} is not a valid name of a ${what}. Expected a-z and 0-9, a letter first.`;
      throw new StciError('STCI_MCA_INVALID', message, { data: { name } });
    }
    if (records[index + 1]?.name !== name) continue;
    const message = `The ${what} ${name} is registered twice. Expected one; leave the other out.`;
    throw new StciError('STCI_MCA_DUPLICATE', message, { data: { name } });
  }
}

function checkComponent(frameworks: readonly AnyFramework[], component: AnyComponent): void {
  const framework = frameworks.find(({ name }) => name === component.framework.name)
    ?? unknownFramework(component.framework.name, frameworks);
  if (component.frameworkVersion === framework.version) return;
  throw new StciError(
    'STCI_MCA_VERSION',
    `Component ${framework.name}:${component.name} ${component.version} was written for version `
      + `${component.frameworkVersion} of framework ${framework.name}, which is at version ${framework.version}. `
      + 'Install the component that belongs to this version of STCI.',
    { data: { name: `${framework.name}:${component.name}` } },
  );
}

function checkRules(catalog: ParamCatalog, rules: readonly ParamRule[]): void {
  for (const { param } of rules) {
    if (catalog.has(param)) continue;
    const message = `A rule names parameter ${quote(param)}, which is not declared.`;
    throw new StciError('STCI_MCA_INVALID', message, { data: { name: param } });
  }
}

function unknownFramework(name: string, frameworks: readonly AnyFramework[]): never {
  const names = frameworks.map((framework) => framework.name);
  const message = `Unknown framework ${quote(name)}.${didYouMean(name, names)} There are: ${names.join(', ')}.`;
  throw new StciError('STCI_MCA_FRAMEWORK_UNKNOWN', message, { data: { name } });
}

function unknownComponent(frameworkName: string, name: string, components: readonly AnyComponent[]): never {
  const names = components.map((component) => component.name);
  const known = names.length === 0 ? 'It has none.' : `There are: ${names.join(', ')}.`;
  const message = `Unknown ${frameworkName} component ${quote(name)}.${didYouMean(name, names)} ${known}`;
  throw new StciError('STCI_MCA_COMPONENT_UNKNOWN', message, { data: { name: `${frameworkName}:${name}` } });
}
