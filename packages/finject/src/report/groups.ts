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

/** Labels of runs: the first that tells one from the others of its experiment's name, its directory's, and its path. */
export function runLabels(runs: readonly ReportRun[]): readonly string[] {
  const candidates = runs.map(({ summary: { name }, history: { directory } }, index) =>
    [name, directory.split('/').findLast((part) => !['', '.', '..'].includes(part)) ?? directory, directory,
      `${directory} (${index + 1})`]);
  return candidates.map((own, index) => own.find((label, at) =>
    candidates.every((other, theirs) => theirs === index || other[at] !== label)) ?? '');
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
