/** `stci attach`: shows a job of a session, with the output options of stcirun. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { StciError } from '@stci/interface';
import { FLAG_NAMES, FLAGS, GROUPS, OPTION_FACTS, type FlagName } from '../cli/flags.js';
import { parseCommandLine } from '../cli/parse.js';
import { scan } from '../cli/scan.js';
import { SessionPlace } from '../session/session-place.js';
import { StciCommand } from './base.js';
import { connectToJob, JOB_ARGUMENT, sessionFlags } from './session-command.js';

const ALL = '--all';
/** Besides those of the output. */
const ALSO: readonly FlagName[] = ['session', 'quiet', 'verbose', 'forward-signals', 'mca', 'am'];

function isOfAttach(name: FlagName): boolean {
  return OPTION_FACTS[name].group === GROUPS[3] || ALSO.includes(name);
}

const shown = (name: FlagName): object => ({ ...FLAGS[name], implied: OPTION_FACTS[name].implied });

export class AttachCommand extends StciCommand {
  static override readonly summary = 'shows a job of a session: what no front-end has shown, then what comes';
  static override readonly synopsis = '[--all] [output options of stcirun] JOB';
  static override readonly page = 'sessions.md#jobs';
  static override readonly details = `
Ends with the job's exit code. Ctrl-C ends the job, as in stcirun; a hangup (closing the
terminal), TERM, Ctrl-\\ and a reader of the output that leaves do not. Several may look at
one job. Input is that of a terminal.

Examples:
  stci attach night.3
  stci attach --all --tag night.3 | less
`;

  static override strict = false;
  static override args = { job: Args.string({ ignoreStdin: true, description: JOB_ARGUMENT }) };
  /** For the help: `run` reads them as stcirun does. */
  static override flags = {
    all: Flags.boolean({ description: 'also output that was shown before, as far as it is kept' }),
    ...Object.fromEntries(FLAG_NAMES.filter(isOfAttach).map((name) => [name, shown(name)])),
    session: sessionFlags.session,
  };

  async run(): Promise<number> {
    const argv = this.argv.filter((word) => word !== ALL);
    const [context] = scan(argv);
    const options = (context?.options ?? []).map((word) => word.replace(/^--|=.*$/gsu, '') as FlagName);
    const foreign = options.find((name) => !isOfAttach(name));
    if (foreign !== undefined) {
      throw new StciError('STCI_USAGE', `stci attach has no option --${foreign}: ${FLAGS[foreign].description}.`);
    }
    const [job, ...more] = context?.command ?? [];
    if (job === undefined || more.length > 0) {
      const text = "stci attach: expected one job, such as night.3, behind the options. See 'stci ps'.";
      throw new StciError('STCI_USAGE', text);
    }
    const line = await parseCommandLine(argv);
    if (line.kind !== 'run') throw new StciError('STCI_USAGE', 'See stci help attach.');
    const { startAttach } = await import('../run/attach.js');
    return startAttach({
      line,
      agents: this.config.root,
      all: argv.length < this.argv.length,
      connect: async (init) => {
        const place = new SessionPlace(init.params.string('session.directory'));
        const connected = await connectToJob({ ...init, place }, job, line.request.session);
        return { ...connected, name: connected.facts.name };
      },
    });
  }
}
