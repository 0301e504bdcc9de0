/** Shows a job on the caller's terminal: sinks, signals, input; ends with its exit code. */

import { parseTemplate } from '@stci/core/iof';
import type { SignalName } from '@stci/interface';
import { isTerminal } from '../process/descriptor.js';
import type { EventsFile } from '../output/events-file.js';
import { JobFacts } from '../output/facts.js';
import { openSink } from '../output/open-sink.js';
import { openTerminal, type Terminal } from '../output/terminal.js';
import { resolveFrom } from '../files/caller-directory.js';
import { checkFiles } from './check-files.js';
import { keepReportPipe, openDriver } from './driver.js';
import { followJob, type FollowedJob } from './follow-job.js';
import type { Prepared } from './prepare.js';
import type { Pty } from './terminal/pty.js';
import { parseForwardList } from './terminal/signals.js';

export interface ShowParams extends Prepared, Pick<FollowedJob, 'spec' | 'map' | 'isHere' | 'remarks'> {
  /** Of `--events`. */
  readonly events?: EventsFile | undefined;
  /** Of `--pty`. */
  readonly pty?: Pty | undefined;
  readonly ignoresHangup: boolean;
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

export function showJob(show: ShowParams & FollowedJob): Promise<number> {
  const { request, params, map, pty, ignoresHangup, detach } = show;
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
    pty,
    openTerminal: (onFault) => (terminal = openTerminal(onFault, request.color, pty !== undefined)),
    openSink: (screen, onFault) => openSink({ request, template, terminal: screen, facts, onFault }),
  });
  return followJob(show, driver, {
    options: request,
    onMapped: (changed) => facts.remap(changed),
    say: (text) => terminal?.message(`stcirun: ${text}`, true),
  });
}
