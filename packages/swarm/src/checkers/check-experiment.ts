/** Runs a drawn experiment and says what must hold of it and does not. */

import { summarize, type HistoryRecord, type InjectionState } from '@stci/finject/experiment';
import type { DrawnExperiment } from '../scenarios/draw-experiment.js';
import { SimulatedRun } from '../worlds/experiment-run.js';

const EVENTS = 20_000;
/** The controller waits so much longer than an order takes, and a little for the report. */
const LATE_MS = 3500;
/** After an abort comes another. */
const AGAIN_MS = 700;
const EVENTS_MAX = 30_000_000;
/** Of a run, with the time limits of its repeats and all that follows them. */
const RUN_MS_MAX = 600_000;

export interface ExperimentOutcome {
  readonly problems: readonly string[];
  readonly records: readonly HistoryRecord[];
}

export function runExperiment(drawn: DrawnExperiment): ExperimentOutcome {
  const { seed, experiment, plans, shape, target, clockSkewMs, interrupt } = drawn;
  const records: HistoryRecord[] = [];
  const run = new SimulatedRun({
    seed, experiment, plans, clockSkewMs, target: () => target,
    onRecord: (record) => records.push(record),
    facts: { file: 'drawn', text: '', shape, isSimulated: true, isGolden: false, versions: {}, parameters: [] },
  });
  const { driver } = run;
  if (interrupt !== undefined) {
    const end = (): void => (interrupt.how === 'kill' ? driver.killSelf() : run.abort('signal'));
    driver.platform.clock.after(interrupt.atMs, end);
    if (interrupt.again) driver.platform.clock.after(interrupt.atMs + AGAIN_MS, () => run.abort('signal'));
  }
  let outcome = run.play(EVENTS);
  let events = EVENTS;
  for (; outcome === 'busy' && events < EVENTS_MAX; events += EVENTS) {
    if (driver.platform.clock.nowMs() > RUN_MS_MAX) break;
    outcome = run.play(EVENTS);
  }
  const problems = outcome === 'busy' ? [`it does not end: ${Math.round(driver.platform.clock.nowMs())} ms`] : [];
  for (const { host, command, isStopped } of driver.left) {
    problems.push(`left on ${host}: ${command.join(' ')}${isStopped ? ', stopped' : ''}`);
  }
  problems.push(...checkRecords(records, outcome === 'killed'), ...checkClocks(records, drawn, run));
  return { problems, records };
}

/** What an injection may end with. */
const LAST: ReadonlySet<InjectionState> = new Set(['injected', 'undone', 'lapsed', 'failed', 'skipped', 'never']);

function checkRecords(records: readonly HistoryRecord[], isKilled: boolean): string[] {
  const problems: string[] = [];
  const summary = summarize({ directory: 'drawn', records, isCutOff: records.at(-1)?.type !== 'run-end' });
  if (isKilled) return summary.isCutOff || records.length === 0 ? [] : ['it was killed, and its record is complete'];
  if (summary.isCutOff) problems.push('its record is cut off');
  for (const record of records) {
    if (record.type === 'repeat-end' && record.orphans > 0) {
      problems.push(`repeat ${record.repeat} left ${record.orphans} processes`);
    }
    if (record.type !== 'repeat') continue;
    const { repeat, injections } = record.plan;
    const own = records.filter((one) => 'repeat' in one && one.repeat === repeat);
    if (!own.some(({ type }) => type === 'repeat-end')) problems.push(`repeat ${repeat} has no end`);
    for (const { id, timeoutMs } of injections) {
      const states = own.flatMap((one) => (one.type === 'injection' && one.id === id ? [one.state] : []));
      if (!states.some((state) => LAST.has(state)) && !isLate(id, timeoutMs, own)) {
        problems.push(`${id}: ${states.join(', ')} and no more`);
      }
    }
  }
  const isInOrder = records.every(({ monotonicMs }, at) => monotonicMs >= (records[at - 1]?.monotonicMs ?? 0));
  return isInOrder ? problems : [...problems, 'its records are not in order'];
}

/** The job ended while it was made: what became of it is not awaited. */
function isLate(id: string, timeoutMs: number, ofRepeat: readonly HistoryRecord[]): boolean {
  const ordered = ofRepeat.find((one) => one.type === 'injection' && one.id === id && one.state === 'ordered');
  const ended = ofRepeat.find((one) => one.type === 'event' && one.event.type === 'ended');
  return ordered !== undefined && ended !== undefined && ended.wallMs - ordered.wallMs < timeoutMs + LATE_MS;
}

/** The measured offsets are true within their errors; the controller's clock is right. */
function checkClocks(records: readonly HistoryRecord[], { clockSkewMs }: DrawnExperiment, run: SimulatedRun): string[] {
  const { world } = run.driver;
  const last = records.filter((record) => record.type === 'clock').at(-1);
  // Of a repeat whose clocks were not measured, it is the world of another.
  const repeat = records.reduce((number, record) => (record.type === 'repeat' ? record.plan.repeat : number), 0);
  if (last?.type !== 'clock' || last.repeat !== repeat || clockSkewMs === 0) return [];
  return last.clocks.flatMap(({ name, offsetMs, errorMs }) => {
    const trueMs = world.findHost(name)?.wallOffsetMs ?? 0;
    const isTrue = Math.abs(offsetMs - trueMs) <= errorMs;
    return isTrue ? [] : [`clock of ${name}: ${offsetMs} ± ${errorMs} ms, is ${trueMs} ms`];
  });
}
