/** Findings as a person reads them: those that differ in numbers alone are one, and there are not too many. */

import type { Finding } from './findings.js';

export interface FoldedFinding {
  readonly finding: Finding;
  /** Number of findings like it. */
  readonly more: number;
}

const SHOWN_MAX = 20;

/** Findings, each the first of its kind. `rest`: how many findings are of kinds that are not shown. */
export function foldFindings(findings: readonly Finding[]): {
  readonly shown: readonly FoldedFinding[]; readonly rest: number;
} {
  const kinds = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { level, check, file, text } = finding;
    // Suites try many sizes, and lists of positions; test.js runs the component's suite once more.
    const kind = check === 'compliance' ? [text.replace(/\d+(?:,\d+)*/gu, '#')] : [file, text];
    const key = JSON.stringify([level, check, ...kind]);
    kinds.set(key, [...(kinds.get(key) ?? []), finding]);
  }
  const folded = [...kinds.values()].map((all) => ({ finding: all[0] as Finding, more: all.length - 1 }));
  const rest = folded.slice(SHOWN_MAX).reduce((sum, { more }) => sum + 1 + more, 0);
  return { shown: folded.slice(0, SHOWN_MAX), rest };
}
