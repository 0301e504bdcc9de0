/**
 * The process of a session: the controller with its agents, the jobs, and the private socket at which front-ends
 * connect. It belongs to no terminal; its messages go to the session's log.
 */

import { readFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { paramsSnapshot } from '@stci/core';
import { Session } from '@stci/core/controller';
import { SessionJobs, SessionServer } from '@stci/core/resident';
import { eventJson, type EventFile } from '@stci/core/run';
import { encodeSessionKey, makeSessionKey } from '@stci/core/session';
import {
  EXIT, StciError, printable, toErrorRecord, type HostIndex, type JobEvent, type JobId, type Platform,
} from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import { agentFiles } from '../agent/agent-files.js';
import { withHostGroups } from '../settings/host-groups.js';
import { loadRunSettings, type Settings } from '../settings/settings.js';
import { watchCommand } from '../plugin/watch-command.js';
import { endByFault } from '../process/fault.js';
import { printError } from '../process/print.js';
import { VERSION } from '../process/version.js';
import { KEEP_FD, REPORT_FD, WORDS_FD, type Instruction, type Report } from './instruction.js';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.js';
import { LOG_FILE, trimLog } from './session-log.js';
import { removeSession, SessionPlace } from './session-place.js';
import { spoolDirectory } from './spool-directory.js';

const LOG_PERIOD_MS = 10_000;
/** Period at which it is checked whether the owner still runs. */
const OWNER_PERIOD_MS = 250;
/** How long the end may take after the fault of a plugin, which may hinder it. Agents without a controller end. */
const FAULT_MS = 10_000;

/** Resolves with the exit code when the session has ended. */
export async function sessionMain(programs: string): Promise<number> {
  const instruction = JSON.parse(readFileSync(0, 'utf8')) as Instruction;
  // A hangup of the terminal that it was started from does not concern it.
  process.on('SIGHUP', () => undefined);
  process.on('SIGINT', () => undefined);
  try {
    const allocation = await takeOver(instruction);
    const settings = await loadRunSettings(instruction, instruction.wdir, createNodePlatform().env.variables);
    const events = await openEvents(instruction);
    await watchCommand('stci', settings.params);
    return await new SessionProcess(instruction, programs, settings, events, allocation).run();
  } catch (thrown) {
    const { code, message } = toErrorRecord(thrown);
    report({ type: 'failed', code, message });
    return thrown instanceof StciError ? thrown.exitCode : EXIT.internal;
  }
}

/** The allocation that the starter has asked for. */
async function takeOver({ slurmJob }: Instruction): Promise<HeldAllocation | undefined> {
  if (slurmJob === undefined) return undefined;
  const { HeldAllocation: Held } = await import('../alloc/held-allocation.js');
  const [keep, words] = [new Socket({ fd: KEEP_FD }), new Socket({ fd: WORDS_FD })];
  // Nothing is read of it: its end is not this process's end.
  return new Held({ keep: keep.pause(), words }, (text) => printError(`Slurm: ${text}\n`), slurmJob);
}

/** The file of `--events`, before anything is started. Throws STCI_OUTPUT_FAILED. */
async function openEvents({ events }: Instruction): Promise<EventFile | undefined> {
  if (events === undefined) return undefined;
  const { EventsFile } = await import('../output/events-file.js');
  const file = await EventsFile.make(events);
  return file.open((error) => printError(`${error.message}\n`));
}

/** The starter may have gone. */
function report(line: Report): void {
  try {
    writeSync(REPORT_FD, `${JSON.stringify(line)}\n`);
  } catch {
    // It reads no longer.
  }
}

class SessionProcess {
  readonly #instruction: Instruction;
  readonly #platform: Platform;
  readonly #place: SessionPlace;
  readonly #events: EventFile | undefined;
  readonly #allocation: HeldAllocation | undefined;
  readonly #key;
  readonly #jobs: SessionJobs;
  readonly #server: SessionServer;
  #failure: StciError | undefined;
  /** A plugin's. */
  #fault: StciError | undefined;
  /** A batch system's. */
  #ending: StciError | undefined;
  #onStopped: () => void = () => undefined;

  constructor(
    instruction: Instruction, programs: string, settings: Settings, events: EventFile | undefined,
    allocation: HeldAllocation | undefined,
  ) {
    this.#instruction = instruction;
    this.#events = events;
    const { name, staged, hosts, spares, wdir, isForOneJob } = instruction;
    this.#platform = createNodePlatform({
      ...agentFiles(programs),
      logLevel: process.env['STCI_DEBUG'] === '1' ? 'debug' : 'warn',
    });
    const { registry, composition } = settings;
    const params = withHostGroups({ registry, params: settings.params, wdir }, hosts);
    this.#place = new SessionPlace(dirname(staged));
    this.#key = makeSessionKey(this.#platform);
    const session = {
      platform: this.#platform,
      composition,
      params,
      snapshot: paramsSnapshot(registry.catalog, params),
      allocation: { hosts, spares },
    };
    this.#jobs = new SessionJobs({
      name,
      version: VERSION,
      clock: this.#platform.clock,
      session: (observer) => new Session(session, observer),
      spoolFiles: (job) => spoolDirectory(join(this.#place.directory, name, 'spools', job)),
      spoolBytesMax: params.int('session.spool.max'),
      ...(isForOneJob && { lingerMs: params.int('session.linger') }),
      onStep: (text) => this.#onStep(text),
      onEvent: (event) => this.#onEvent(event),
      onReady: (up) => report({ type: 'ready', up }),
      onAborted: (error) => this.#onAborted(error),
      onEnding: (error) => this.#onEnding(error),
      onJobEvent: (job, event) => event.type === 'restarting' && this.#onEvent(event, job),
      onAgentsEnded: () => void this.#giveBack(),
      onStopped: () => this.#onStopped(),
    });
    const init = { platform: this.#platform, params, key: this.#key, service: this.#jobs };
    this.#server = new SessionServer(init);
    allocation?.watch((error) => this.#onLost(error));
    this.#allocation = allocation;
    endByFault((fault) => this.#onFault(fault));
  }

  async run(): Promise<number> {
    const socket = await this.#listen();
    const { name, staged } = this.#instruction;
    const facts = {
      name,
      version: VERSION,
      hostname: this.#platform.env.hostname,
      process: identityOf(process.pid) as ProcessIdentity,
      socket,
      startWallMs: Math.floor(this.#platform.clock.wallMs()),
    };
    const found = this.#place.publish(staged, facts, encodeSessionKey(this.#key));
    report({ type: 'listening' });
    // It also keeps the process until the end: the platform's timers do not.
    const trim = setInterval(() => trimLog(join(found.directory, LOG_FILE)), LOG_PERIOD_MS);
    const watch = this.#watchOwner();
    await new Promise<void>((resolve) => {
      this.#onStopped = resolve;
      process.on('SIGTERM', () => this.#jobs.stop());
    });
    await new Promise<void>((resolve) => this.#server.disconnect(resolve));
    await new Promise<void>((resolve) => (this.#events === undefined ? resolve() : this.#events.finish(resolve)));
    await this.#giveBack();
    // The next command that looks tells of a fault, or of an end by a batch system.
    const unasked = this.#fault ?? this.#ending;
    if (unasked === undefined) removeSession(found);
    clearInterval(trim);
    clearInterval(watch);
    return (unasked ?? this.#failure)?.exitCode ?? 0;
  }

  async #giveBack(): Promise<void> {
    const allocation = this.#allocation;
    if ((await allocation?.release()) === false) printError(`stci: ${allocation?.unconfirmed}\n`);
  }

  /** One that was started for another process ends with that, however it ends. */
  #watchOwner(): NodeJS.Timeout | undefined {
    const { owner } = this.#instruction;
    if (owner === undefined) return undefined;
    return setInterval(() => {
      if (!isRunning(owner)) this.#jobs.stop();
    }, OWNER_PERIOD_MS);
  }

  #listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.listen((error, path) => (error === undefined ? resolve(path) : reject(error)));
    });
  }

  /** What happens to a host is told to the starter while it waits, and in the log. */
  #onStep(text: string): void {
    report({ type: 'step', text });
    printError(`${new Date(this.#platform.clock.wallMs()).toISOString()} ${text}\n`);
  }

  #onEvent(event: JobEvent, job?: JobId): void {
    const { clock } = this.#platform;
    const hostName = (host: HostIndex): string => this.#jobs.status().hosts[host]?.spec.name ?? '?';
    const at = { wallMs: clock.wallMs(), monotonicMs: clock.nowMs() };
    this.#events?.write(eventJson(event, hostName, at, job));
  }

  /** The session's hosts did not come up. */
  #onAborted(error: StciError): void {
    this.#failure = error;
    report({ type: 'failed', code: error.code, message: error.message });
  }

  /** A batch system takes the hosts: jobs end, and then the session. */
  #onEnding(error: StciError): void {
    if (this.#ending === undefined) printError(`stci: ${printable(error.message)}\n`);
    this.#ending = error;
    report({ type: 'failed', code: error.code, message: error.message });
  }

  /** salloc tells of it; what started the agents does not, or was not told. */
  #onLost(error: StciError): void {
    if (this.#ending !== undefined) return;
    this.#jobs.stop(`its session: ${error.message}`);
    this.#onEnding(error);
  }

  /** Of a plugin, outside of any call, or in one that the session cannot do without. */
  #onFault(fault: StciError): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    setTimeout(() => process.exit(fault.exitCode), FAULT_MS);
    this.#server.fail(fault);
    this.#onAborted(fault);
    this.#jobs.stop();
  }
}
