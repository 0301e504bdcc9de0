/** The files of a run, in its directory. */

export const RUN_FILES = {
  history: 'history.jsonl',
  report: 'report.html',
  summary: 'summary.json',
  injections: 'injections.csv',
  repeats: 'repeats.csv',
} as const;
