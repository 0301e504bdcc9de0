/** The Platform of one task of a simulated process. */

import { hmacSha256 } from '@stci/interface';
import type { Clock, Environment, Files as FilesOfHost, Log, Secrets, Timer } from '@stci/interface';
import { SimEvent } from './event-queue.js';
import type { SimHost, SimPlatform } from './host.js';
import { SimNetwork } from './network.js';
import { SimProcesses } from './processes.js';
import type { SimProcess } from './process-table.js';
import type { SimRandom } from './random.js';
import { CallEvent, CODE, type Scheduler } from './scheduler.js';
import type { Task } from './task.js';

class TimerEvent extends SimEvent implements Timer {
  readonly code = CODE.timer;
  readonly #scheduler: Scheduler;
  #call: (() => void) | undefined;

  constructor(scheduler: Scheduler, task: Task, call: () => void) {
    super(task);
    this.#scheduler = scheduler;
    this.#call = call;
  }

  fire(): void {
    const call = this.#call;
    this.#call = undefined;
    call?.();
  }

  cancel(): void {
    if (this.#call === undefined) return;
    this.#call = undefined;
    this.#scheduler.queue.cancel(this);
  }
}

function createClock(host: SimHost, task: Task): Clock {
  const { scheduler } = host;
  return {
    nowMs: () => host.nowMs(),
    wallMs: () => host.wallMs(),
    after: (delayMs, fire) => {
      const timer = new TimerEvent(scheduler, task, fire);
      scheduler.after(timer, delayMs);
      return timer;
    },
    soon: (fire) => scheduler.turn(new CallEvent(task, fire, CODE.turn)),
  };
}

function createSecrets(random: SimRandom): Secrets {
  return { bytes: (length) => random.bytes(length), mac: hmacSha256 };
}

function createEnvironment(host: SimHost, process: SimProcess): Environment {
  return {
    hostname: host.name,
    pid: process.pid,
    user: 'sim',
    wdir: process.wdir,
    variables: process.env,
    cpuCount: host.world.cpuCount,
    systemText: (path) => host.system.get(path),
    cpuTimes: () => undefined,
  };
}

/** Directories have names and nothing in them; what programs name is not there. */
function createFiles(host: SimHost): FilesOfHost {
  return {
    makeDirectory: (prefix) => `/tmp/${prefix}-${host.nextPort++}`,
    removeDirectory: () => undefined,
    removeNamed: (paths) => paths,
    readNamed: () => ({ problem: 'there is no such file' }),
    removeUnused: () => undefined,
  };
}

export function createPlatform(host: SimHost, process: SimProcess, task: Task): SimPlatform {
  const random = host.random.fork(`task ${task.id}`);
  const log: Log = {
    level: host.world.logLevel,
    write: (level, text) => host.world.log(task, level, text),
  };
  return {
    clock: createClock(host, task),
    random: random.fork('code'),
    secrets: createSecrets(random.fork('secrets')),
    network: new SimNetwork(host, task),
    processes: new SimProcesses(host, process, task),
    files: createFiles(host),
    env: createEnvironment(host, process),
    log,
  };
}
