/** `finject validate` and `plan`: what is wrong with an experiment, and what it would do. Nothing is started. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { planRepeats, planText } from '@stci/finject/experiment';
import { ERROR_KINDS, StciError } from '@stci/interface';
import { jsonText, printError, printOut, StciCommand } from '@stci/stcirun/front-end';
import { loadExperiment, problemsText, readExperiment, type ReadExperiment } from './experiment-file.js';
import { fileArgs, fileArgument, seedFlag } from './run-commands.js';

export class ValidateCommand extends StciCommand {
  static override readonly summary = 'finds what is wrong with experiments; starts nothing';
  static override readonly synopsis = 'FILE...';
  static override readonly page = 'finject.md#the-experiment-file';
  static override readonly details = `
Tells all problems of each file, with line and column. Exit code: 0 if there are none, else 193.

Example:
  finject validate experiments/*.yaml
`;

  static override args = { file: Args.string({ ignoreStdin: true, description: 'experiment file' }) };
  static override strict = false;

  async run(): Promise<number> {
    const { argv } = await this.parse(ValidateCommand);
    const files = argv.map(String);
    let isRight = true;
    for (const file of [fileArgument(files[0], 'validate'), ...files.slice(1)]) {
      const problems = await this.#problems(file);
      if (problems === '') printOut(`${file}: no problems\n`);
      else printError(`${problems}\n`);
      isRight &&= problems === '';
    }
    return isRight ? 0 : ERROR_KINDS.STCI_EXPERIMENT_INVALID.exitCode;
  }

  /** A file that cannot be read hides none of the others. */
  async #problems(file: string): Promise<string> {
    try {
      const { problems }: ReadExperiment = await readExperiment(file, this.config.root);
      return problems.length === 0 ? '' : problemsText(problems);
    } catch (thrown) {
      if (thrown instanceof StciError) return thrown.message;
      throw thrown;
    }
  }
}

export class PlanCommand extends StciCommand {
  static override readonly summary = 'the schedule of each repeat, as the seed gives it; starts nothing';
  static override readonly synopsis = 'FILE [--repeat N] [--seed S] [--json]';
  static override readonly page = 'finject.md#the-experiment-file';
  static override readonly details = `
Times count from the moment when all ranks run and the warm-up is over.

Example:
  finject plan experiments/kill-one-rank.yaml --repeat 1
`;

  static override args = fileArgs;
  static override flags = {
    repeat: Flags.custom<number>({
      parse: async (text) => parseRepeat(text), helpValue: 'N', description: 'only this one, of each configuration',
    })(),
    seed: seedFlag,
    json: Flags.boolean({ description: 'the plans as a JSON array' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(PlanCommand);
    const file = fileArgument(args.file, 'plan');
    const { experiment, shape } = await loadExperiment(file, this.config.root, { seed: flags.seed });
    const all = planRepeats(experiment, shape);
    const plans = flags.repeat === undefined ? all : all.filter(({ number }) => number === flags.repeat);
    if (plans.length === 0) {
      const { repeats } = experiment;
      throw new StciError('STCI_USAGE', `--repeat ${flags.repeat}: the experiment has repeats 1 to ${repeats}.`);
    }
    printOut(flags.json ? jsonText(plans) : planText(experiment, shape, plans));
  }
}

/** Throws STCI_USAGE. */
function parseRepeat(text: string): number {
  if (/^[1-9]\d{0,8}$/u.test(text)) return Number(text);
  throw new StciError('STCI_USAGE', `--repeat: expected an integer of at least 1, got '${text}'.`);
}
