/**
 * A plugin's manifest: field `stci` of its package.json (interface/plugin.ts), checked without running its code. Each
 * problem names the file, the place in it, what is there and what is expected.
 */

import { didYouMean, paramProblem, quote } from '@stci/core';
import {
  PLUGIN_API, StciError, type AnyFramework, type ParamSpec, type ParamSpecs, type PluginComponent,
  type PluginManifest,
} from '@stci/interface';
import { parseRange } from './range.js';

/** What concerns a plugin in a package.json. */
export interface PluginPackage {
  readonly name: string;
  readonly version: string;
  readonly manifest: PluginManifest;
}

/** What a manifest has from the code. */
export const DECLARED = ['help', 'params', 'args'] as const;

/** Declaration of a component in the code; undefined: its module has none. */
export type CodeDeclaration = Pick<PluginComponent, typeof DECLARED[number]> | undefined;

/** The manifest as far as code is loaded by it: what is to be written from the code may be missing, or be wrong. */
export function withoutDeclarations(json: string): string {
  const parsed = JSON.parse(json) as { stci?: { components?: Record<string, unknown>[] } };
  const components = parsed.stci?.components;
  if (!Array.isArray(components)) return json;
  for (const component of components) Object.assign(component ?? {}, { help: '-', params: {}, args: {} });
  return JSON.stringify(parsed);
}

type Fields = Readonly<Record<string, unknown>>;
/** What is wrong with a value; undefined: nothing. */
type Check = (value: unknown) => string | undefined;

const text: Check = (value) =>
  (typeof value === 'string' && value.trim() !== '' ? undefined : 'text that is not empty');
const textOrEmpty: Check = (value) => (typeof value === 'string' ? undefined : 'text');
const number: Check = (value) => (Number.isSafeInteger(value) ? undefined : 'an integer');
const texts: Check = (value) =>
  (Array.isArray(value) && value.every((item) => typeof item === 'string') ? undefined : 'a list of texts');
const oneOf = (...values: readonly (string | boolean)[]): Check => (value) => {
  if (values.includes(value as string)) return undefined;
  const names = values.map(String);
  return `one of ${names.join(', ')}${typeof value === 'string' ? hint(value, names) : ''}`;
};
const scalar: Check = (value) =>
  (['number', 'string', 'boolean'].includes(typeof value) || texts(value) === undefined
    ? undefined : 'a number, text, true, false or a list of texts');

function hint(name: string, names: readonly string[]): string {
  const near = didYouMean(name, names).trim();
  return near === '' ? '' : ` (${near.replace(/^Did/u, 'did')})`;
}

const SPEC: Readonly<Record<string, Check>> = {
  type: oneOf('int', 'bool', 'string', 'enum', 'duration', 'size', 'list'),
  default: scalar,
  help: text,
  min: number,
  max: number,
  values: texts,
  aliases: texts,
  scope: oneOf('session', 'job', 'front-end'),
  selects: oneOf(true),
  hostGroupsAs: textOrEmpty,
  level: oneOf('basic', 'tuner', 'developer'),
};
const SPEC_NEEDS = ['type', 'default', 'help'];

const COMPONENT = ['framework', 'name', 'module', 'help', 'params', 'args'];
const COMPONENT_NEEDS = COMPONENT.slice(0, 4);
const PLAIN_NAME = /^[a-z][a-z0-9]*$/u;
const PARAM_NAME = /^[a-z][a-z0-9]*(?:\.[a-z][a-z0-9]*)*$/u;
const PROBLEMS_MAX = 10;

/** Throws STCI_PLUGIN_INVALID with all problems. `file`: path of the package.json, for messages. */
export function readManifest(json: string, file: string, frameworks: readonly AnyFramework[]): PluginPackage {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (thrown) {
    throw refusal([`${file}: it is no JSON: ${(thrown as Error).message}.`]);
  }
  const reader = new ManifestReader(file, frameworks);
  const found = reader.read(parsed);
  if (reader.problems.length > 0 || found === undefined) throw refusal(reader.problems);
  return found;
}

function refusal(problems: readonly string[]): StciError {
  const more = problems.length - PROBLEMS_MAX;
  const shown = [...problems.slice(0, PROBLEMS_MAX), ...(more > 0 ? [`and ${more} more`] : [])];
  return new StciError('STCI_PLUGIN_INVALID', shown.join('\n'), { data: { problems: problems.length } });
}

class ManifestReader {
  readonly problems: string[] = [];
  readonly #file: string;
  readonly #frameworks: readonly AnyFramework[];

  constructor(file: string, frameworks: readonly AnyFramework[]) {
    this.#file = file;
    this.#frameworks = frameworks;
  }

  read(json: unknown): PluginPackage | undefined {
    const own = this.#fields(json, '', undefined, ['name']);
    if (own === undefined) return undefined;
    const { name, version = '0.0.0', stci } = own;
    this.#check(name, 'name', text);
    this.#check(version, 'version', text);
    if (stci === undefined) {
      this.#add('stci', 'it is missing: the package declares no components. Expected '
        + `{ "api": "^${PLUGIN_API.split('.')[0]}", "components": [...] }; docs/plugins.md describes it`);
      return undefined;
    }
    const fields = this.#fields(stci, 'stci', ['api', 'components'], ['api', 'components']);
    if (fields === undefined) return undefined;
    this.#readApi(fields['api']);
    const components = this.#readComponents(fields['components']);
    return { name: name as string, version: version as string, manifest: { api: fields['api'] as string, components } };
  }

  #readApi(api: unknown): void {
    const range = typeof api === 'string' ? parseRange(api) : undefined;
    if (range === undefined) return this.#expected('stci.api', api, 'a range of versions, such as ^1 or >=1.1 <3');
    if (range.has(PLUGIN_API)) return;
    const side = range.isAbove(PLUGIN_API) ? 'Update STCI' : 'Update the plugin';
    this.#add('stci.api', `the plugin works with version ${api as string} of the plugin API; this STCI has `
      + `${PLUGIN_API}. ${side}`);
  }

  #readComponents(list: unknown): readonly PluginComponent[] {
    const at = 'stci.components';
    if (!Array.isArray(list) || list.length === 0) {
      this.#expected(at, list, 'a list of at least one component');
      return [];
    }
    const components = list.map((item, index) => this.#readComponent(item, `${at}[${index}]`));
    const known = components.filter((component) => component !== undefined);
    for (const [index, { framework, name }] of known.entries()) {
      if (known.findIndex((one) => one.framework === framework && one.name === name) === index) continue;
      this.#add(`${at}[${index}]`, `${framework}:${name} is declared twice. Expected one; leave the other out`);
    }
    return known;
  }

  #readComponent(item: unknown, at: string): PluginComponent | undefined {
    const fields = this.#fields(item, at, COMPONENT, COMPONENT_NEEDS);
    if (fields === undefined) return undefined;
    const { framework, name, module, help, params, args } = fields;
    const names = this.#frameworks.map((one) => one.name);
    this.#check(framework, `${at}.framework`, oneOf(...names));
    const isName = (value: unknown): boolean => typeof value === 'string' && PLAIN_NAME.test(value);
    this.#check(name, `${at}.name`, (value) => (isName(value) ? undefined : 'a-z and 0-9, a letter first'));
    const isPath = (value: unknown): boolean => typeof value === 'string' && value.startsWith('./')
      && !value.split('/').includes('..');
    this.#check(module, `${at}.module`, (value) =>
      (isPath(value) ? undefined : 'a path in the package that begins with ./'));
    this.#check(help, `${at}.help`, text);
    const specs = {
      ...(params !== undefined && { params: this.#readSpecs(params, `${at}.params`) }),
      ...(args !== undefined && { args: this.#readSpecs(args, `${at}.args`) }),
    };
    return { framework, name, module, help, ...specs } as PluginComponent;
  }

  #readSpecs(value: unknown, at: string): ParamSpecs {
    const fields = this.#fields(value, at, undefined, []);
    if (fields === undefined) return {};
    for (const [name, item] of Object.entries(fields)) {
      const place = `${at}.${name}`;
      if (!PARAM_NAME.test(name)) this.#add(place, 'no name of a parameter. Expected dotted parts of a-z and 0-9');
      const before = this.problems.length;
      const spec = this.#fields(item, place, Object.keys(SPEC), SPEC_NEEDS);
      if (spec === undefined) continue;
      for (const [key, check] of Object.entries(SPEC)) {
        if (spec[key] !== undefined) this.#check(spec[key], `${place}.${key}`, check);
      }
      if (this.problems.length > before) continue;
      const wrong = paramProblem(spec as unknown as ParamSpec);
      if (wrong !== undefined) this.#add(place, wrong);
    }
    return fields as unknown as ParamSpecs;
  }

  /** An object with no other members than `known`; undefined: all are. */
  #fields(value: unknown, at: string, known: readonly string[] | undefined, needs: readonly string[]):
  Fields | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#expected(at, value, 'an object');
      return undefined;
    }
    const member = (name: string): string => (at === '' ? name : `${at}.${name}`);
    for (const name of Object.keys(value)) {
      if (known === undefined || known.includes(name)) continue;
      this.#add(member(name), `unknown member.${didYouMean(name, known)} There are: ${known.join(', ')}`);
    }
    for (const name of needs) {
      if (!Object.hasOwn(value, name)) this.#add(member(name), 'it is missing');
    }
    return value as Fields;
  }

  #check(value: unknown, at: string, check: Check): void {
    const expected = value === undefined ? undefined : check(value);
    if (expected !== undefined) this.#expected(at, value, expected);
  }

  #expected(at: string, value: unknown, expected: string): void {
    if (value !== undefined) this.#add(at, `expected ${expected}; found ${found(value)}`);
  }

  #add(at: string, problem: string): void {
    this.problems.push(`${this.#file}: ${at === '' ? '' : `${at}: `}${problem}.`.replace(/([.?])\.$/u, '$1'));
  }
}

/** A value in few words, for a message. */
export function found(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
