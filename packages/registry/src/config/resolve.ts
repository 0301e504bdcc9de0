/**
 * The resolver: all sources in, one frozen set of parameters out. Every value of every source is checked, also one
 * that a higher source overrides, so that an error in a file is found at once. All problems are reported in one error.
 */

import { PARAM_SOURCES } from '@stci/interface';
import type { ParamValue, Params, ResolvedParam } from '@stci/interface';
import type { CatalogEntry, ParamCatalog, ParamRule } from './catalog.js';
import { didYouMean, didYouMeanDotted } from './nearest.js';
import { createParams } from './params.js';
import { problemsError, quote } from './problems.js';
import type { ParamProblem } from './problems.js';
import { listProblem } from './selection-list.js';
import { amTexts, commandLineTexts, environmentName, environmentTexts, fileTexts, repeatProblem } from './sources.js';
import type { ParamInputs, ParamText, SourceTexts } from './sources.js';
import { expectedForm, formatValue, parseValue } from './values.js';

export interface Resolution {
  readonly params: Params;
  /** One line each, for the user: values that the administrator's override file has changed. */
  readonly warnings: readonly string[];
}

/** Throws one StciError with every problem: STCI_PARAM_UNKNOWN, _INVALID, _FILE or STCI_MCA_COMPONENT_UNKNOWN. */
export function resolveParams(
  catalog: ParamCatalog,
  inputs: ParamInputs,
  rules: readonly ParamRule[] = [],
): Resolution {
  const sources = gather(inputs);
  const problems = sources.flatMap((source) => source.problems);
  const values = new Map<string, ResolvedParam>(defaults(catalog));
  const warnings: string[] = [];
  const written = new Map<string, ParamText>();
  for (const text of sources.flatMap((source) => source.texts)) {
    const read = readText(catalog, text);
    if ('problem' in read) {
      problems.push(read.problem);
      continue;
    }
    const { name } = read.entry;
    const earlier = written.get(`${text.source} ${name}`);
    written.set(`${text.source} ${name}`, text);
    // Repeats under one name were found by the source; a later --am file overrides an earlier one.
    const isSecond = earlier !== undefined && earlier.name !== text.name && earlier.text !== text.text;
    if (isSecond && text.source !== 'am file') {
      problems.push(repeatProblem(earlier, text));
      continue;
    }
    const warning = overrideWarning(read.entry, values.get(name), read.value, text);
    if (warning !== undefined) warnings.push(warning);
    values.set(name, { name, value: read.value, source: text.source, origin: text.origin });
  }
  if (problems.length > 0) throw problemsError(problems);
  for (const rule of rules) {
    const settled = rule.settle?.(values);
    if (settled !== undefined) values.set(settled.name, settled);
  }
  const params = createParams(catalog, values.values());
  checkRules(params, rules);
  return { params, warnings };
}

/** Sources from low to high, so that a later text overrides an earlier one. */
function gather(inputs: ParamInputs): readonly SourceTexts[] {
  const bySource: Record<(typeof PARAM_SOURCES)[number], () => SourceTexts> = {
    override: () => fileTexts('override', inputs.override),
    'command line': () => commandLineTexts(inputs.commandLine),
    'am file': () => amTexts(inputs.amFiles),
    environment: () => environmentTexts(inputs.environment),
    'project file': () => fileTexts('project file', inputs.project),
    'user file': () => fileTexts('user file', inputs.user),
    'system file': () => fileTexts('system file', inputs.system),
    default: () => ({ texts: [], problems: [] }),
  };
  return [...PARAM_SOURCES].reverse().map((source) => bySource[source]());
}

function defaults(catalog: ParamCatalog): [string, ResolvedParam][] {
  return [...catalog.values()].map(({ name, spec }) => [name, { name, value: spec.default, source: 'default' }]);
}

function readText(
  catalog: ParamCatalog,
  text: ParamText,
): { entry: CatalogEntry; value: ParamValue } | { problem: ParamProblem } {
  const entry = catalog.get(text.name) ?? entryOfAlias(catalog, text.name);
  if (entry === undefined) return { problem: unknownProblem(catalog, text) };
  const parsed = parseValue(entry.spec, text.text);
  if (!parsed.ok) return { problem: invalidProblem(entry, text, parsed.problem) };
  const wrong = entry.components === undefined ? undefined : listProblem(entry, parsed.value);
  if (wrong === undefined) return { entry, value: parsed.value };
  const hint = wrong.code === 'STCI_MCA_COMPONENT_UNKNOWN' ? whereElse(catalog, text.text) : '';
  const message = `${where(text)}: ${entry.name} = ${quote(text.text)}: ${wrong.message}${hint}`;
  return { problem: { code: wrong.code, message, ...facts(text) } };
}

/** A component may be one of another framework, as in `--launcher tree`; or of a plugin that is not named here. */
function whereElse(catalog: ParamCatalog, name: string): string {
  const other = [...catalog.values()].find(({ components = [] }) => components.includes(name));
  return other === undefined ? ' One of a plugin needs its --plugin, in a job as well as at the start of its session.'
    : ` ${quote(name)} is one of ${other.name}: --mca ${other.name}=${name}`;
}

function entryOfAlias(catalog: ParamCatalog, name: string): CatalogEntry | undefined {
  for (const entry of catalog.values()) if (entry.spec.aliases?.includes(name) === true) return entry;
  return undefined;
}

function where(text: ParamText): string {
  return `${text.source} (${text.origin})`;
}

function facts(text: ParamText): Pick<ParamProblem, 'name' | 'value' | 'source' | 'origin'> {
  return { name: text.name, value: text.text, source: text.source, origin: text.origin };
}

function unknownProblem(catalog: ParamCatalog, text: ParamText): ParamProblem {
  let near = didYouMeanDotted(text.name, [...catalog.keys()]);
  if (text.source === 'environment') near = didYouMean(text.origin, [...catalog.keys()].map(environmentName)) || near;
  const message = `${where(text)}: unknown parameter ${quote(text.name)}.`
    + `${near || ' `stci info` lists them all, with --plugin also those of a plugin.'}`;
  return { code: 'STCI_PARAM_UNKNOWN', message, ...facts(text) };
}

function invalidProblem(entry: CatalogEntry, text: ParamText, problem: string): ParamProblem {
  const message = `${where(text)}: ${entry.name} = ${quote(text.text)}: the value ${problem}. `
    + `Expected ${expectedForm(entry.spec)}; the default is ${formatValue(entry.spec, entry.spec.default) || 'empty'}.`;
  return { code: 'STCI_PARAM_INVALID', message, ...facts(text) };
}

function overrideWarning(
  entry: CatalogEntry,
  before: ResolvedParam | undefined,
  value: ParamValue,
  text: ParamText,
): string | undefined {
  if (text.source !== 'override' || before === undefined || before.source === 'default') return undefined;
  const now = formatValue(entry.spec, value);
  const then = formatValue(entry.spec, before.value);
  if (now === then) return undefined;
  return `${entry.name} = ${then} (${before.source}, ${before.origin}) is not used: `
    + `the administrator's ${text.origin} sets ${now || 'it empty'}.`;
}

/** Rules see a complete, well-formed set; each names one parameter, whose source is reported. */
function checkRules(params: Params, rules: readonly ParamRule[]): void {
  const problems: ParamProblem[] = [];
  for (const rule of rules) {
    const wrong = rule.check(params);
    if (wrong === undefined) continue;
    const blamed = params.entries().find((param) => param.name === rule.param);
    const from = blamed?.origin ?? blamed?.source ?? 'default';
    const message = `${blamed?.source ?? 'default'} (${from}): ${rule.param}: ${wrong}`;
    const { param: name } = rule;
    problems.push({ code: 'STCI_PARAM_INVALID', message, name, source: blamed?.source ?? 'default', origin: from });
  }
  if (problems.length > 0) throw problemsError(problems);
}
