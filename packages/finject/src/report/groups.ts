/** What a report is made of: runs, and the groups of repeats that are compared: each configuration of each run. */

import type { History } from '../history/contracts.js';
import type { Figures, Proportion, RepeatSummary, RunSummary } from '../judge/contracts.js';

export interface ReportRun {
  readonly history: History;
  readonly summary: RunSummary;
}

export interface Group {
  readonly label: string;
  readonly repeats: readonly RepeatSummary[];
  readonly figures: readonly Figures[];
  readonly outcomes: readonly Proportion[];
}

/** Labels of runs: their experiments' names, numbered where they are the same. */
export function runLabels(runs: readonly ReportRun[]): readonly string[] {
  const names = runs.map(({ summary }) => summary.name);
  return names.map((name, index) => {
    const same = names.filter((other) => other === name).length;
    return same === 1 ? name : `${name} (${names.slice(0, index + 1).filter((other) => other === name).length})`;
  });
}

export function groupsOf(runs: readonly ReportRun[]): readonly Group[] {
  const labels = runLabels(runs);
  return runs.flatMap(({ summary }, index) => {
    const configurations = [...new Set(summary.repeats.map(({ configuration }) => configuration))];
    return configurations.map((configuration) => {
      const of = <T extends { readonly configuration: string }>(list: readonly T[]): readonly T[] =>
        list.filter((one) => one.configuration === configuration);
      const run = runs.length === 1 ? '' : labels[index] ?? '';
      const label = [run, configuration].filter((part) => part !== '').join(' · ');
      return {
        label: label === '' ? 'all repeats' : label,
        repeats: of(summary.repeats), figures: of(summary.figures), outcomes: of(summary.outcomes),
      };
    });
  });
}
