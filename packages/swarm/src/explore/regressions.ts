/**
 * Runs that failed once, each with what it found. They are kept as plans, since what a seed draws changes with the
 * drawing: a file of JSON for each kind of runs (packages/swarm/regressions), of entries with the values that are not
 * plain. Who reads it has the text.
 */

import type { Kind, SeededPlan } from './kind.js';
import { decode, different, encode, fieldLines, filled } from './plan-text.js';

export interface Regression<Plan extends SeededPlan = SeededPlan> {
  readonly found: string;
  readonly plan: Plan;
}

/** Throws an Error that says which entry is wrong, and how. */
export function readRegressions<Plan extends SeededPlan>(kind: Kind<Plan>, text: string): Regression<Plan>[] {
  const entries = readList(kind.regressions, text);
  return entries.map((entry, index) => {
    const { found, ...values } = Object(entry) as { readonly found?: unknown } & Partial<Plan>;
    const place = `${kind.regressions}, entry ${index + 1}`;
    if (typeof found !== 'string' || found === '') throw new Error(`${place}: found: expected what it found`);
    const plan = { ...kind.plain, ...values };
    const wrong = kind.refuse(plan);
    if (wrong !== undefined) throw new Error(`${place} (${found}): ${wrong}`);
    return { found, plan };
  });
}

function readList(file: string, text: string): readonly unknown[] {
  let entries: unknown;
  try {
    entries = decode(text);
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
    throw new Error(`${file}, line ${text.slice(0, position).split('\n').length}: ${message}`, { cause: error });
  }
  if (!Array.isArray(entries)) throw new Error(`${file}: expected a list of regressions`);
  return entries;
}

/** An entry of the file. */
export function regressionText<Plan extends SeededPlan>(
  { plain }: Pick<Kind<Plan>, 'plain'>, { found, plan }: Regression<Plan>,
): string {
  const indent = '    ';
  const lines = [`${indent}"found": ${encode(found)}`, filled(fieldLines(different(plan, plain), indent), indent)];
  return `  {\n${lines.filter((line) => line !== '').join(',\n')}\n  }`;
}
