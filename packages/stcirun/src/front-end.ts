/** What a front-end of another package is made of: commands, their errors, sessions, specifications of jobs. */

export { runMain } from './process/command-main.js';
export { jsonText, printError, printOut } from './process/print.js';
export { commonFlags, paramFlags, repeated, StciCommand, type StciCommandClass } from './stci/base.js';
export { CommandTable } from './stci/command-table.js';
export { VERSION } from './process/version.js';
export { frontEndRegistry } from './assembly/front-end-registry.js';
export { watchCommand } from './plugin/watch-command.js';
export { loadSettings, type Settings } from './settings/settings.js';
export { FLAG_NAMES, OPTION_FACTS, optionName, type FlagName } from './cli/flags.js';
export { parseCommandLine, type RunRequest } from './cli/parse.js';
export { scan } from './cli/scan.js';
export { callerOf } from './run/caller.js';
export { planJob, type PlannedJob } from './run/plan-job.js';
export { prepare, type Prepared } from './run/prepare.js';
export { openSession, ownParams, startOwnSession, type OpenedSession } from './run/session-run.js';
export { identityOf, isRunning, type ProcessIdentity } from './session/process-identity.js';
export { removeSession, type FoundSession, type SessionPlace } from './session/session-place.js';
export { parseCount, parseDuration, parsePair, type Pair } from './cli/values.js';
export { answered, askStatus, promised } from './session/ask.js';
export {
  connectToJob, JOB_ARGUMENT, jobArgument, openSessions, sessionFlags, type Sessions,
} from './stci/session-command.js';
export { OPEN_FLAGS, readBounded, readReason } from './files/read-file.js';
export { loadFlagParams } from './stci/base.js';
export { lookForMarks, type MarkedProcesses, type MarkSearch } from './doctor/look-for-marks.js';
