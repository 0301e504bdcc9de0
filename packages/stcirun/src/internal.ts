/** What tests of this package use of the command line: its parts, not its programs. */

export { assembleRegistry } from './assembly/registry.js';
export { frontEndRegistry } from './assembly/front-end-registry.js';
export { programFacts } from './complete/programs.js';
export { ARGUMENT_KINDS, OPTION_KINDS } from './complete/values.js';
export { optionDefaults, type DefaultedName, type OptionDefault } from './cli/defaults.js';
export { FLAG_NAMES, FLAGS, GROUPS, OPTION_FACTS, type FlagName } from './cli/flags.js';
export { helpText, optionSyntax } from './cli/help.js';
export { parseCommandLine, type CommandLine, type ProgramRequest, type RunRequest } from './cli/parse.js';
export { exportedVariables, SECRET_VARIABLES, SESSION_VARIABLES, toolEnvironment } from './cli/environment.js';
export { linkedMpi, neededLibraries, type LinkedMpi, type LinkPlaces } from './files/linked-mpi.js';
export { openDriver, type DriverParams } from './run/driver.js';
export { Progress, progressText, type LaunchState } from './run/terminal/progress.js';
export { FORWARDED, parseForwardList, STOP_DELAY_MS, watchSignals } from './run/terminal/signals.js';
export { slurmRemark } from './run/slurm-remark.js';
export { makeJobSpec, type Place } from './run/spec.js';
export { JobFacts } from './output/facts.js';
export { parseConfiguration } from './doctor/reach.js';
export { EventsFile } from './output/events-file.js';
export { openSink, type OpenSinkParams } from './output/open-sink.js';
export { outputError } from './process/output-error.js';
export type { OutputFacts } from './output/sink.js';
export { makeTerminal, type Terminal } from './output/terminal.js';
export { Writer, type WriteBatch } from './output/writer.js';
export { VERSION } from './process/version.js';
export { identityOf } from './session/process-identity.js';
export {
  checkSessionName, defaultSession, jobName, matchSession, parseJobName,
} from './session/session-name.js';
export { removeSession, SessionPlace, type FoundSession, type SessionFacts } from './session/session-place.js';
export { ask, askRanks, promised } from './session/ask.js';
export { trimLog } from './session/session-log.js';
export { spoolDirectory } from './session/spool-directory.js';
export { parseContexts } from './cli/parse.js';
export { Feed } from './library/feed.js';
export { EventFeed } from './library/event-feed.js';
export { contextsOf, inOptionNames, OPTION_OF_FLAG } from './library/option-table.js';
export {
  readSallocOptions, sallocArguments, sallocCommand, type AllocationWish,
} from './alloc/salloc-options.js';
export { SallocLog } from './alloc/salloc-words.js';
export { EnvironmentReader } from './alloc/holder.js';
export { framedInput, sizeFrame } from './run/terminal/pty-host.js';
