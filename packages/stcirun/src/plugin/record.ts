/** What is wrong with the record of a component as a module exports it: written by hand, it may have any mistake. */

import { nearest } from '@stci/core';
import { found } from './manifest.js';

type Fields = Readonly<Record<string, unknown>>;

const TYPES: Readonly<Record<string, 'string' | 'number' | 'function'>> = {
  name: 'string', frameworkVersion: 'number', query: 'function', create: 'function',
};
const KNOWN = ['framework', ...Object.keys(TYPES), 'version', 'help', 'params', 'args'];

/** As many members of these names as make an object one that was meant as a record. */
const LIKENESS = 3;

/** An export that is meant as a record, whether or not it is one. */
export function isMeantAsRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
    && KNOWN.filter((name) => Object.hasOwn(value, name)).length >= LIKENESS;
}

/** Problems, each as `query is missing (there is qeury)`. `framework`: for which it is declared. */
export function recordProblems(record: Fields, framework: string): readonly string[] {
  const others = Object.keys(record).filter((name) => !KNOWN.includes(name));
  const missing = (name: string): string => {
    const [near] = nearest(name.toLowerCase(), others.map((other) => other.toLowerCase()), 1);
    const there = others.find((other) => other.toLowerCase() === near);
    return `${name} is missing${there === undefined ? '' : ` (there is ${there})`}`;
  };
  const problems: string[] = [];
  const own = record['framework'];
  if (own === undefined) problems.push(missing('framework'));
  else if (typeof (own as { readonly name?: unknown } | null)?.name !== 'string') {
    problems.push(`framework: expected ${framework}Framework of @stci/core/component; found ${found(own)}`);
  }
  for (const [name, type] of Object.entries(TYPES)) {
    const value = record[name];
    if (value === undefined) problems.push(missing(name));
    else if (typeof value !== type) problems.push(`${name}: expected a ${type}; found ${found(value)}`);
  }
  return problems;
}
