/**
 * What `finject run` shows while it runs: the target's output with its rank, faults, what the runtime finds, and how
 * far the run is. At a terminal a line at the bottom is drawn over; else there are plain lines only.
 */

import { counted } from '@stci/core';
import { injectionName, repeatName, type HistoryRecord, type RepeatPlan } from '@stci/finject/experiment';
import { printable, type FaultVictim, type JobEvent } from '@stci/interface';

export interface RunViewInit {
  readonly plans: readonly RepeatPlan[];
  readonly hosts: readonly string[];
  /** Columns of the terminal, which may change; undefined: there is none. */
  columns(): number | undefined;
  write(text: string): void;
}

export class RunView {
  readonly #init: RunViewInit;
  #plan: RepeatPlan | undefined;
  #startMs: number | undefined;
  /** Output without an end of line, by rank and stream. */
  readonly #rests = new Map<string, string>();
  #status = '';
  #name = '';
  #injected = 0;
  #isRunning = false;
  #hasTarget = false;

  constructor(init: RunViewInit) {
    this.#init = init;
  }

  onRecord(record: HistoryRecord): void {
    switch (record.type) {
      case 'repeat':
        return this.#onRepeat(record.plan);
      case 'start':
        this.#startMs = record.monotonicMs;
        this.#isRunning = true;
        return this.#line('start', record);
      case 'output':
        return this.#onOutput(record);
      case 'injection':
        return this.#onInjection(record);
      case 'event': {
        const text = eventText(record.event);
        return text === undefined ? undefined : this.#line(text, record);
      }
      case 'check':
        return this.#line(`check ${record.name}: ${record.isPassed ? 'passed' : `failed (${record.text})`}`, record);
      case 'target':
        this.#hasTarget = true;
        return undefined;
      case 'problem':
        // Before there is a target, it is the error that ends the run, which is told in the end.
        return this.#hasTarget ? this.#line(record.text, record) : undefined;
      case 'repeat-end':
        return this.#onEnd(record);
    }
  }

  /** Draws the last line anew. */
  tick(nowMs: number): void {
    const columns = this.#init.columns();
    if (columns === undefined || this.#plan === undefined) return;
    const time = this.#startMs === undefined ? 'starting' : `${((nowMs - this.#startMs) / 1000).toFixed(0)} s`;
    const planned = this.#plan?.injections.length ?? 0;
    const faults = `${this.#injected} of ${counted(planned, 'fault')} injected`;
    const text = `${this.#name}  ${time}  ${faults}`;
    this.#draw(text.slice(0, columns - 1));
  }

  /** Nothing is drawn over any more. */
  end(): void {
    this.#draw('');
  }

  #onRepeat(plan: RepeatPlan): void {
    this.#plan = plan;
    this.#startMs = undefined;
    this.#isRunning = false;
    this.#hasTarget = false;
    this.#injected = 0;
    this.#rests.clear();
    this.#name = this.#nameOf(plan);
    this.#put(`${this.#name}\n`);
  }

  /** Name of the repeat; of several configurations with how far the run is: `repeat 2 of 3, swim (4 of 6)`. */
  #nameOf({ repeat, number, configuration }: RepeatPlan): string {
    const { plans } = this.#init;
    const own = plans.filter((plan) => plan.configuration === configuration);
    const name = repeatName({ number, configuration: printable(configuration) }, own.length);
    if (own.length === plans.length) return name;
    return `${name} (${plans.findIndex((plan) => plan.repeat === repeat) + 1} of ${plans.length})`;
  }

  #onOutput({ rank, stream, text }: Extract<HistoryRecord, { type: 'output' }>): void {
    const key = `${rank} ${stream}`;
    const lines = ((this.#rests.get(key) ?? '') + text).split('\n');
    this.#rests.set(key, lines.pop() ?? '');
    this.#put(lines.map((line) => outputLine(rank, stream, line)).join(''));
  }

  #onInjection(record: Extract<HistoryRecord, { type: 'injection' }>): void {
    const { id, state, text, victim } = record;
    if (state === 'due' || state === 'ordered' || !this.#hasTarget) return;
    if (state === 'injected') this.#injected += 1;
    const injection = this.#plan?.injections.find((one) => one.id === id);
    const victims = injection?.victims ?? [];
    const shown = victim === undefined ? victims : victims.slice(victim, victim + 1);
    const whom = shown.map((one) => this.#victimText(one)).join(', ');
    const more = text === '' ? '' : ` (${text})`;
    const kind = injection?.kind ?? '';
    const name = injectionName(id, this.#plan ?? { configuration: '' });
    const what = whom.startsWith(`${kind} `) ? whom : `${kind} ${whom}`.trim();
    this.#line(`fault ${name} ${what}: ${state}${more}`, record);
  }

  #victimText(victim: FaultVictim): string {
    const host = (index: number): string => this.#init.hosts[index] ?? `host ${index}`;
    const end = (position: number): string => (position === 0 ? 'controller' : host(position - 1));
    switch (victim.kind) {
      case 'rank':
        return `rank ${victim.rank}`;
      case 'host':
        return `host ${host(victim.host)}`;
      case 'agent':
        return ['root', 'session'].includes(victim.role) ? `${victim.role} agent of ${host(victim.host)}` : victim.role;
      case 'link':
        return `link ${victim.ends.map(end).join('–')}`;
      case 'partition':
        return victim.sets.map((set) => set.map(end).join(',')).join(' | ');
    }
  }

  #onEnd(record: Extract<HistoryRecord, { type: 'repeat-end' }>): void {
    for (const [key, rest] of this.#rests) {
      const [rank, stream] = key.split(' ');
      if (rest !== '') this.#put(outputLine(Number(rank), stream as 'stdout', rest));
    }
    const { report, isTimeOut, orphans, unknown = [], stopped } = record;
    const how = !this.#hasTarget ? 'not begun' : report === undefined ? 'no report' : `exit code ${report.exitCode}`;
    const left = orphans > 0 && `${orphans} processes left`;
    const notKnown = unknown.length > 0 && `not known of ${unknown.length} hosts whether processes are left`;
    const parts = [how, isTimeOut && 'time limit', left, notKnown, stopped !== undefined && 'stopped'];
    this.#line(`end: ${parts.filter(Boolean).join(', ')}`, record);
    this.#startMs = undefined;
  }

  #line(text: string, { monotonicMs }: HistoryRecord): void {
    const sinceMs = this.#startMs === undefined || !this.#isRunning ? undefined : monotonicMs - this.#startMs;
    const time = sinceMs === undefined ? ' '.repeat(10) : `${(sinceMs / 1000).toFixed(3).padStart(8)} s`;
    this.#put(`${time}  ${printable(text).replaceAll('\n', ' ')}\n`);
  }

  #put(text: string): void {
    if (text === '') return;
    const { columns, write } = this.#init;
    write(columns() === undefined ? text : `\r\u001b[K${text}${this.#status}`);
  }

  #draw(status: string): void {
    if (this.#init.columns() === undefined || status === this.#status) return;
    this.#status = status;
    this.#init.write(`\r\u001b[K${status}`);
  }
}

function outputLine(rank: number, stream: 'stdout' | 'stderr', line: string): string {
  return `${`[${rank}]${stream === 'stderr' ? '!' : ''}`.padStart(10)}  ${printable(line)}\n`;
}

/** Text of events that tell of failures and recovery; undefined: of the others. */
function eventText(event: JobEvent): string | undefined {
  switch (event.type) {
    case 'failure':
      return `detected: ${event.error.message}`;
    case 'failure-record': {
      const { detector, evidence, hostName, achievedMs } = event.record;
      const late = achievedMs === undefined ? '' : `, after ${achievedMs.toFixed(1)} ms`;
      return `recorded: ${hostName}: ${evidence} (${detector}${late})`;
    }
    case 'member':
      return `${event.change}: ${event.name}`;
    case 'recovery':
      return `recovery: ${event.name}: ${event.action}`;
    case 'restarting':
      return `restarting: rank ${event.report.rank}, attempt ${event.attempt}`;
    case 'mark':
      return `mark: rank ${event.rank}: ${event.name}`;
    case 'warning':
      return `warning: ${event.text}`;
    default:
      return undefined;
  }
}
