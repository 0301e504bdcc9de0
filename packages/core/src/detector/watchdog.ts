/**
 * Detector `watchdog` (STCI paper, II-F.1: failures that do not end a process): a tool promises a sign of life within
 * some time, renews it with each sign, and is reported when it stops. A tool that promises nothing is not watched.
 */

import { accept, builtinComponent } from '@stci/interface';
import type { Detector, DetectorAction, DetectorEvent, DetectorModule, ParamValue, Rank } from '@stci/interface';
import { durationParam, notifierParam } from './component.js';
import { detectorFramework } from './framework.js';

interface Watched {
  withinMs: number;
  heardMs: number;
}

class Watchdog implements Detector {
  readonly #graceMs: number;
  readonly #watched = new Map<Rank, Watched>();

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  get dueMs(): number | undefined {
    const due = [...this.#watched.values()].map((watched) => this.#deadlineMs(watched));
    return due.length === 0 ? undefined : Math.min(...due);
  }

  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[] {
    switch (event.type) {
      case 'tool-alive':
        if (event.withinMs === 0) this.#watched.delete(event.rank);
        else this.#watched.set(event.rank, { withinMs: event.withinMs, heardMs: nowMs });
        return [];
      case 'tool-started':
      case 'tool-ended':
        this.#watched.delete(event.rank);
        return [];
      case 'lag':
        for (const watched of this.#watched.values()) watched.heardMs += event.lagMs;
        return [];
      case 'due':
        return this.#expire(nowMs);
      default:
        return [];
    }
  }

  #deadlineMs({ heardMs, withinMs }: Watched): number {
    return heardMs + withinMs + this.#graceMs;
  }

  #expire(nowMs: number): DetectorAction[] {
    const actions: DetectorAction[] = [];
    for (const [rank, watched] of this.#watched) {
      if (nowMs < this.#deadlineMs(watched)) continue;
      this.#watched.delete(rank);
      const evidence = `no sign of life for ${Math.round(nowMs - watched.heardMs)} ms, `
        + `promised within ${watched.withinMs} ms`;
      actions.push({ type: 'report', failed: { rank }, cause: 'watchdog', evidence, suspectedMs: nowMs });
    }
    return actions;
  }
}

function createWatchdog(params: Readonly<Record<string, ParamValue>>): DetectorModule {
  const graceMs = params['grace'] as number;
  const text = `A tool that promised a sign of life is reported ${graceMs} ms after it did not come.`;
  return {
    watches: 'tools',
    topology: '',
    metrics: {},
    promise: () => ({ messagesPerSecond: 0, bytesPerSecond: 0, text }),
    open: () => new Watchdog(graceMs),
  };
}

export const detectorWatchdog = builtinComponent({
  framework: detectorFramework,
  name: 'watchdog',
  help: 'Tools that promised a sign of life and stopped. Runs always; a tool that promises nothing is not watched.',
  params: {
    notifier: notifierParam,
    grace: durationParam(100, 'How long after the promised time a tool is reported. Longer forgives a busy host, '
      + 'shorter finds a tool that hangs sooner.', 0),
  },
  query: () => accept(80),
  create: (_deps, params) => createWatchdog(params),
});
