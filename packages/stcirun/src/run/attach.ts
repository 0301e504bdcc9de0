/** Shows a job of a session that another front-end has left, or is showing. */

import type { SessionClient } from '@stci/core/session';
import type { AllocatedJob, JobId } from '@stci/interface';
import type { CommandLine } from '../cli/parse.js';
import { isTerminal } from '../process/descriptor.js';
import { askStatus, call } from '../session/ask.js';
import { jobName } from '../session/session-name.js';
import { colorErrors } from '../process/fault.js';
import { callerOf } from './caller.js';
import { inSession } from './follow-job.js';
import { prepare } from './prepare.js';
import type { SessionInit } from './session-run.js';
import { checkOutput, openEvents, showJob } from './show-job.js';

type RunLine = Extract<CommandLine, { kind: 'run' }>;

export interface AttachParams {
  readonly line: RunLine;
  /** Directory of the agent's files. */
  readonly agents: string;
  /** All output that is kept, not only what no front-end has shown. */
  readonly all: boolean;
  connect(init: SessionInit): Promise<{ readonly client: SessionClient; readonly name: string; readonly job: JobId }>;
}

/** The exit code of the job, or 0 where it was left again. */
export async function startAttach({ line, agents, all, connect }: AttachParams): Promise<number> {
  colorErrors(line.request.color);
  const prepared = await prepare(line.request, callerOf(agents, 'stci'), async () => line.request);
  const { client, name, job } = await connect(prepared);
  const input = isTerminal(0) && line.request.stdin.to !== 'none';
  const { continues } = await askStatus(client);
  const accepted = await call(client, 'client.attach', { job, all, input });
  const { map, stdin } = accepted;
  if (input && stdin.to !== 'none' && !accepted.input && !line.request.quiet) {
    prepared.say(`job ${jobName(name, job)} reads the input of another front-end; when that one leaves, yours.`);
  }
  // Of the specification, a run reads where input goes.
  const spec = { hosts: [], stdin: input ? stdin : { to: 'none' } } as unknown as AllocatedJob;
  const isHere = (host: string): boolean => host === prepared.platform.env.hostname;
  const show = { ...prepared, ignoresHangup: false, map, spec, isHere, remarks: () => ({ texts: [] }) };
  checkOutput(show);
  const events = await openEvents(show);
  return showJob({ ...show, events, ...inSession({ client, name, continues }, accepted, true) });
}
