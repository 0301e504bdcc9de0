/**
 * Checks what a component's author passes to a suite: a field whose name is misspelt would be ignored, and the test
 * pass without it. Throws a TypeError that names the place, what was expected and, where one is near, the name meant.
 */

import { didYouMean } from '@stci/core';

/** What a field holds, in the words of the message. */
const KINDS = {
  text: (value: unknown) => typeof value === 'string' && value !== '',
  'true or false': (value: unknown) => typeof value === 'boolean',
  false: (value: unknown) => value === false,
  'false, or a text': (value: unknown) => value === false || typeof value === 'string',
  'a function': (value: unknown) => typeof value === 'function',
  'a whole number, at least 1': (value: unknown) => Number.isInteger(value) && Number(value) >= 1,
  'a number, at least 0': (value: unknown) => typeof value === 'number' && value >= 0,
  'a list of whole numbers, at least 1': (value: unknown) =>
    Array.isArray(value) && value.every((one) => Number.isInteger(one) && one >= 1),
  'a list': (value: unknown) => Array.isArray(value),
  'an object': (value: unknown) => isObject(value),
  'an object of texts, as a user sets parameters': (value: unknown) =>
    isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
} as const;

export type FieldKind = keyof typeof KINDS;

/** Kinds of fields by name; `required`: those that must be there. */
export type Fields<Case> = Readonly<Record<keyof Case & string, FieldKind>>;

export interface SuiteCall<Case> {
  /** Of the suite's function: `topologyCompliance`. */
  readonly suite: string;
  readonly framework: string;
  readonly fields: Fields<Case>;
  readonly required: readonly (keyof Case & string)[];
}

/** Checks the cases of a suite; labels differ. */
export function checkCases<Case>(call: SuiteCall<Case>, component: unknown, cases: unknown): void {
  checkGiven(call, component);
  const isList = Array.isArray(cases) && cases.length > 0;
  if (!isList) fail(call, `cases: expected a list of at least one, got ${said(cases)}`);
  const labels = new Set<unknown>();
  for (const [index, one] of (cases as unknown[]).entries()) {
    const where = `cases[${index}]${isObject(one) && typeof one['label'] === 'string' ? ` ("${one['label']}")` : ''}`;
    checkFields(call, one, where);
    const { label } = one as { readonly label?: unknown };
    if (labels.has(label)) fail(call, `${where}: another case has this label`);
    labels.add(label);
  }
}

/** Checks the options of a suite. */
export function checkOptions<Options>(call: SuiteCall<Options>, component: unknown, options: unknown): void {
  checkGiven(call, component);
  checkFields(call, options, 'options');
}

function checkGiven({ suite, framework }: Pick<SuiteCall<unknown>, 'suite' | 'framework'>, component: unknown): void {
  const of = isObject(component) && isObject(component['framework']) ? component['framework']['name'] : undefined;
  if (of === framework) return;
  const found = of === undefined ? said(component) : `one of framework ${String(of)}`;
  const hint = component === undefined ? '; does its module export it by this name?' : '';
  fail({ suite }, `expected a component of framework ${framework}, got ${found}${hint}`);
}

function checkFields<Case>(call: SuiteCall<Case>, one: unknown, where: string): void {
  if (!isObject(one)) return fail(call, `${where}: expected an object, got ${said(one)}`);
  const { fields, required } = call;
  const names = Object.keys(fields);
  for (const [name, value] of Object.entries(one)) {
    const kind = Object.hasOwn(fields, name) ? fields[name as keyof Case & string] : undefined;
    if (kind === undefined) {
      fail(call, `${where}: there is no field ${name}.${didYouMean(name, names)} Its fields: ${names.join(', ')}`);
    } else if (value !== undefined && !KINDS[kind](value)) {
      fail(call, `${where}: ${name}: expected ${kind}, got ${said(value)}`);
    }
  }
  for (const name of required) {
    if (one[name] === undefined) fail(call, `${where}: ${name} is missing: expected ${fields[name]}`);
  }
}

function fail({ suite }: { readonly suite: string }, text: string): never {
  throw new TypeError(`${suite}: ${text}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function said(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
}
