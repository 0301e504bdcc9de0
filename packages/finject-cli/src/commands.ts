/** The commands of `finject` by name. */

import { CommandTable, type StciCommandClass } from '@stci/stcirun/front-end';
import { AbortCommand } from './abort.js';
import { KillCommand } from './kill.js';
import { CompareCommand, ReportCommand } from './report-commands.js';
import { PlanCommand, ValidateCommand } from './plan-commands.js';
import { ReplayCommand } from './replay-command.js';
import { ProbeCommand, RunCommand } from './run-commands.js';
import { VersionCommand } from './version.js';

const COMMANDS: Readonly<Record<string, StciCommandClass>> = {
  abort: AbortCommand,
  compare: CompareCommand,
  kill: KillCommand,
  plan: PlanCommand,
  probe: ProbeCommand,
  replay: ReplayCommand,
  report: ReportCommand,
  run: RunCommand,
  validate: ValidateCommand,
  version: VersionCommand,
};

export const FINJECT = new CommandTable({
  bin: 'finject',
  about: `Experiments on resilience: starts a target job, injects faults, records what the target and the
runtime do, judges and reports it. docs/finject.md has an introduction.`,
  commands: COMMANDS,
});
