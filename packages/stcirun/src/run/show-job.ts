/** Shows a job, of agents of its own or of a session: sinks, terminal, signals, input; ends with its exit code. */

import { parseTemplate } from '@stci/core/iof';
import { JobRun, type JobRunInit } from '@stci/core/run';
import type { AcceptedJob, SessionClient } from '@stci/core/session';
import type { AllocatedJob, FrontEnd, FrontEndEvents, JobMap, SignalName } from '@stci/interface';
import { isTerminal } from '../output/descriptor.js';
import type { EventsFile } from '../output/events-file.js';
import { JobFacts } from '../output/facts.js';
import { openSink } from '../output/open-sink.js';
import { openTerminal, type Terminal } from '../output/terminal.js';
import { jobName } from '../session/session-name.js';
import { checkFiles } from './check-files.js';
import { resolveFrom } from './caller-directory.js';
import { keepReportPipe, openDriver } from './driver.js';
import type { Prepared } from './prepare.js';
import { parseForwardList } from './signals.js';

const MISSED = 'output was dropped before it could be shown: the spool was full (session.spool.max), or its disk'
  + ' (session.directory)';

/** Where the job's events and output come from. */
export interface JobSource {
  readonly failuresAtOnce: boolean;
  readonly detach?: JobRunInit['detach'];
  startFrontEnd(events: FrontEndEvents, say: (text: string) => void): FrontEnd;
}

/**
 * A session's job that was accepted, or attached to (`isViewer`). `continues`: a failure does not end it.
 */
export function inSession(
  { client, name, continues }: { readonly client: SessionClient; readonly name: string; readonly continues: boolean },
  { job }: AcceptedJob,
  isViewer: boolean,
): JobSource {
  let isToldOfMissed = false;
  const own = jobName(name, job);
  return {
    failuresAtOnce: continues,
    detach: { text: `left job ${own} to its session: 'stci attach ${own}' shows it again`, isViewer },
    startFrontEnd: (events, say) => client.follow(events, () => {
      if (!isToldOfMissed) say(MISSED);
      isToldOfMissed = true;
    }),
  };
}

export interface ShowParams extends Prepared {
  /** Of `--events`. */
  readonly events?: EventsFile | undefined;
  readonly ignoresHangup: boolean;
  readonly spec: AllocatedJob;
  readonly map: JobMap;
  isHere(host: string): boolean;
  remarks(): readonly string[];
}

/** Refuses files that are named twice, before anything is started. */
export function checkOutput({ request, map, params, wdir }: ShowParams): void {
  const template = request.output === undefined ? undefined : parseTemplate(request.output);
  checkFiles(request, template, new JobFacts(map, params.int('iof.line.max')), wdir);
}

/** The file of `--events`, made before anything is started. Throws STCI_OUTPUT_FAILED. */
export async function openEvents({ request, wdir }: ShowParams): Promise<EventsFile | undefined> {
  if (request.events === undefined) return undefined;
  const { EventsFile: File } = await import('../output/events-file.js');
  return File.make(resolveFrom(wdir, request.events, '--events'));
}

/**
 * A hangup, and where the job was attached to, a request to end; at a terminal also its quit key, Ctrl-\, unless the
 * user has said which signals go to the ranks.
 */
function detachSignals(isViewer: boolean, isForwardGiven: boolean): readonly SignalName[] {
  const signals: readonly SignalName[] = isViewer ? ['SIGHUP', 'SIGTERM'] : ['SIGHUP'];
  return isTerminal(0) && !isForwardGiven ? [...signals, 'SIGQUIT'] : signals;
}

export function showJob(show: ShowParams & JobSource): Promise<number> {
  const { request, params, map, spec, ignoresHangup, platform, detach, failuresAtOnce, isHere, remarks } = show;
  const template = request.output === undefined ? undefined : parseTemplate(request.output);
  const facts = new JobFacts(map, params.int('iof.line.max'));
  if (request.exitReport?.file !== undefined) keepReportPipe(request.exitReport.file);
  let terminal: Terminal | undefined;
  const driver = openDriver({
    forwarded: parseForwardList(request.forwardSignals),
    ignoresHangup,
    detaching: detach === undefined ? [] : detachSignals(detach.isViewer, request.forwardSignals !== undefined),
    map,
    events: show.events,
    openTerminal: (onFault) => (terminal = openTerminal(onFault, request.color)),
    openSink: (screen, onFault) => openSink({ request, template, terminal: screen, facts, onFault }),
  });
  return new Promise((resolve) => {
    const { hosts: _ofSession, ...job } = spec;
    const run = new JobRun({
      clock: platform.clock,
      spec: job,
      map,
      onMapped: (changed) => facts.remap(changed),
      options: request,
      failuresAtOnce,
      detach,
      driver,
      startFrontEnd: (events) => show.startFrontEnd(events, (text) => terminal?.message(`stcirun: ${text}`, true)),
      isHere,
      remarks,
      onExit: resolve,
    });
    run.start();
  });
}
