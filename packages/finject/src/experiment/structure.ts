/** Checks the form of an experiment file by its schema, and tells all that is wrong with it, each at its place. */

import { didYouMean, nearest } from '@stci/core';
import { Ajv, type ErrorObject } from 'ajv';
import type { LoadedFile, Path } from './yaml-file.js';
import { CHECKS_MAX, CONFIGURATIONS_MAX, EXPERIMENT_SCHEMA, FAULTS_MAX, type Schema } from './schema.js';
import { shown } from './show.js';

export interface FormProblem {
  readonly path: Path;
  /** The place is that of the key, not of its value. */
  readonly isOfKey: boolean;
  /** A reader of the value may know better what is wrong with it. */
  readonly isOfText: boolean;
  /** The key that was meant by one that is unknown. */
  readonly meant?: string | undefined;
  readonly text: string;
}

/** More are not told: most follow from the first ones, or are the same again. */
export const PROBLEMS_MAX = 100;
const TEXT_KEYWORDS = ['pattern', 'minimum', 'maximum', 'enum', 'minLength'];
const EMPTY = 'the file is empty: expected an experiment, with name and target at least.';

type Validate = ReturnType<Ajv['compile']>;
let compiled: Validate | undefined;

/** Compiled when it is first needed. */
function validator(): Validate {
  compiled ??= new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile(EXPERIMENT_SCHEMA);
  return compiled;
}

/** Lists that are too long to be looked at further. */
export function sizeProblems({ root }: Pick<LoadedFile, 'root'>): FormProblem[] {
  const { faults, checks, configurations } = (root ?? {}) as Readonly<Record<string, unknown>>;
  const counts = [
    ['faults', countFaults(faults), FAULTS_MAX, 'Let one fault have several victims (who) or injections (count).'],
    ['checks', Array.isArray(checks) ? checks.length : 0, CHECKS_MAX, 'Take some away.'],
    ['configurations', Object.keys(configurations ?? {}).length, CONFIGURATIONS_MAX, 'Split the experiment.'],
  ] as const;
  return counts.filter(([, count, most]) => count > most).map(([name, count, most, remedy]) => ({
    path: [name], isOfKey: false, isOfText: false,
    text: `${name}: it has ${count} ${name}; expected at most ${most}. ${remedy}`,
  }));
}

/** Number of faults, with their parts. */
function countFaults(list: unknown): number {
  const waiting: unknown[][] = Array.isArray(list) ? [list] : [];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    count += next.length;
    for (const fault of next) {
      const parts = (fault as { readonly parts?: unknown } | null)?.parts;
      if (Array.isArray(parts)) waiting.push(parts);
    }
  }
  return count;
}

export function formProblems({ root }: Pick<LoadedFile, 'root'>): FormProblem[] {
  const validate = validator();
  if (validate(root)) return [];
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'propertyNames');
  return errors.slice(0, PROBLEMS_MAX).map((error) => problemOf(error, root));
}

function problemOf(error: ErrorObject, root: unknown): FormProblem {
  const path = pathOf(error.instancePath, root);
  const schema = (error.parentSchema ?? {}) as Schema;
  const { keyword } = error;
  const params = error.params as Readonly<Record<string, unknown>>;
  if (keyword === 'additionalProperties') {
    const key = String(params['additionalProperty']);
    const meant = meantKey(key, schema, error.data);
    return { path: [...path, key], isOfKey: true, isOfText: false, meant, text: unknownKey(key, path, schema) };
  }
  if (keyword === 'required') {
    const text = `${nameOf(path)} has no ${String(params['missingProperty'])}. ${missing(schema, params)}`;
    return { path, isOfKey: false, isOfText: false, text };
  }
  if (error.propertyName !== undefined) {
    const text = `${shown(error.propertyName)} is not ${schema.title ?? 'a name'}.`;
    return { path: [...path, error.propertyName], isOfKey: true, isOfText: false, text };
  }
  if (root === null) return { path, isOfKey: false, isOfText: false, text: EMPTY };
  const text = `${nameOf(path)}: ${shown(error.data)} is not what is expected: ${schema.title ?? 'another type'}.`;
  return { path, isOfKey: false, isOfText: TEXT_KEYWORDS.includes(keyword), text };
}

/** What is nearest, unless that is there as well. */
function meantKey(key: string, schema: Schema, object: unknown): string | undefined {
  const [meant] = nearest(key, Object.keys(schema.properties ?? {}), 1);
  return meant === undefined || Object.hasOwn(object as object, meant) ? undefined : meant;
}

function unknownKey(key: string, path: Path, schema: Schema): string {
  const known = Object.keys(schema.properties ?? {});
  const near = didYouMean(key, known);
  return `${nameOf(path)} has an unknown key ${shown(key)}.${near === '' ? ` Expected ${known.join(', ')}.` : near}`;
}

function missing(schema: Schema, params: Readonly<Record<string, unknown>>): string {
  const { title, description } = schema.properties?.[String(params['missingProperty'])] ?? {};
  return title === undefined ? `Add it.` : `Add it: ${title}.${description === undefined ? '' : ` ${description}`}`;
}

/** A JSON pointer as keys and numbers. */
function pathOf(pointer: string, root: unknown): Path {
  let at: unknown = root;
  return pointer.split('/').slice(1).map((part) => {
    const key = part.replace(/~1/g, '/').replace(/~0/g, '~');
    const step = Array.isArray(at) ? Number(key) : key;
    at = (at as Record<string | number, unknown> | null | undefined)?.[step];
    return step;
  });
}

/** `faults[0].who`; `the experiment`. */
export function nameOf(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text === '' ? 'the experiment' : text.replace(/^\./, '');
}
