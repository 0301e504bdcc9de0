/** `finject report` and `finject compare`: from histories alone, whatever state they are in. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { counted } from '@stci/core';
import {
  compareGroups, comparisonText, groupsOf, reportPage, type ReportRun,
} from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import type { HeldDirectory } from '@stci/platform-node';
import { printError, printOut, StciCommand } from '@stci/stcirun/front-end';
import { writeReport, writeWhole } from './report-files.js';
import { summaryText } from './run-experiment.js';
import { holdRun, judgeRun } from './run-files.js';

const PROBLEMS_MAX = 5;

/** Judged again. What is damaged is told, and left out. Throws STCI_HISTORY_INVALID where there is no history. */
function judgedRun(held: Pick<HeldDirectory, 'path' | 'at'>): ReportRun {
  const { path: directory } = held;
  const run = judgeRun(held);
  const { problems = [] } = run.history;
  for (const problem of problems.slice(0, PROBLEMS_MAX)) printError(`finject: ${directory}: ${problem}\n`);
  if (problems.length > PROBLEMS_MAX) {
    printError(`finject: ${directory}: ${problems.length - PROBLEMS_MAX} more damaged lines\n`);
  }
  return run;
}

export class ReportCommand extends StciCommand {
  static override readonly summary = 'judges runs again from their records, and writes their reports';
  static override readonly synopsis = 'RUN... [--output FILE] [--json]';
  static override readonly page = 'finject.md#reading-a-report';
  static override readonly details = `
RUN is the directory of a run. Each gets a report.html, which opens without a network, with
injections.csv, repeats.csv and summary.json beside it. A record that was cut off or damaged
is reported as far as it goes.

Examples:
  finject report finject-runs/kill-one-rank-20261122-130501
  finject report --output both.html finject-runs/ring-* finject-runs/swim-*
`;

  static override strict = false;
  static override args = { run: Args.string({ ignoreStdin: true, description: 'directories of runs' }) };
  static override flags = {
    output: Flags.string({
      helpValue: 'FILE',
      description: 'of several runs: the report in which they are compared; default finject-report.html',
    }),
    json: Flags.boolean({ description: 'print the summary of each run as JSON, a line each, and no table' }),
  };

  async run(): Promise<number> {
    const { argv, flags } = await this.parse(ReportCommand);
    const directories = argv as string[];
    if (directories.length === 0) {
      throw new StciError('STCI_USAGE', 'No run is named. Write: finject report DIRECTORY. See finject help report.');
    }
    // Held until all is written: another may exchange what a path leads to.
    const held = directories.map(holdRun);
    const runs = held.map(judgedRun);
    runs.forEach((run, index) => {
      const report = writeReport(held[index] as HeldDirectory, run);
      if (flags.json) return printOut(`${JSON.stringify(run.summary)}\n`);
      const cut = run.summary.isCutOff ? 'the record was cut off' : 'the record is complete';
      const repeats = counted(run.summary.repeats.length, 'repeat');
      printOut(`${summaryText(run.summary, `${repeats}, ${cut}`)}report: ${report}\n`);
    });
    if (runs.length > 1 || flags.output !== undefined) writeCommon(runs, flags.output, flags.json);
    return 0;
  }
}

function writeCommon(runs: readonly ReportRun[], output: string | undefined, isJson: boolean): void {
  const path = output ?? 'finject-report.html';
  writeWhole(path, reportPage(runs));
  if (!isJson) printOut(`report of ${runs.length === 1 ? 'it' : `all ${runs.length}`}: ${path}\n`);
}

export class CompareCommand extends StciCommand {
  static override readonly summary = 'compares the figures of two runs, or of the configurations of one';
  static override readonly synopsis = 'RUN [RUN] [--output FILE] [--json]';
  static override readonly page = 'finject.md#figures';
  static override readonly details = `
The first is what the others are compared with. Shares of outcomes have 95 % intervals (Wilson).
A difference is the median of all differences between values of the one and of the other
(Hodges-Lehmann), with its 95 % interval (Moses); p is that of Mann and Whitney's test.

Example:
  finject compare finject-runs/ring-20261122-130501 finject-runs/swim-20261122-131207
`;

  static override strict = false;
  static override args = { run: Args.string({ ignoreStdin: true, description: 'directories of runs' }) };
  static override flags = {
    output: Flags.string({ helpValue: 'FILE', description: 'write a report of them, too' }),
    json: Flags.boolean({ description: 'as JSON' }),
  };

  async run(): Promise<number> {
    const { argv, flags } = await this.parse(CompareCommand);
    const runs = (argv as string[]).map((path) => judgedRun({ path, at: path }));
    const groups = groupsOf(runs);
    if (groups.length < 2) {
      const found = runs.length === 0 ? 'No run is named' : 'There is nothing to compare with';
      throw new StciError('STCI_USAGE',
        `${found}. Name two runs, or one with several configurations. See finject help compare.`);
    }
    const names = [...new Set(runs.map(({ summary }) => summary.name))];
    if (names.length > 1) printError(`finject: runs of different experiments are compared: ${names.join(', ')}\n`);
    for (const { summary: { name, isCutOff, isSimulated } } of runs) {
      if (isCutOff) printError(`finject: ${name}: the record was cut off; what it has is compared\n`);
      const isMixed = isSimulated && runs.some(({ summary }) => !summary.isSimulated);
      if (isMixed) printError(`finject: ${name} was simulated, and is compared with a real run\n`);
    }
    printOut(flags.json ? `${JSON.stringify(compareGroups(groups))}\n` : comparisonText(groups));
    if (flags.output !== undefined) writeWhole(flags.output, reportPage(runs));
    return 0;
  }
}
