/**
 * A run made up for reports: hosts and ranks are killed, hosts paused, links cut, in two configurations, with detection
 * times like those of heartbeats. The same for the same arguments.
 */

import { summarize, type PlannedInjection, type ReportRun } from '@stci/finject/experiment';
import { HistoryMaker, check, hostVictim, injection, rankVictim, type RepeatMaker } from '../judge/histories.js';

export interface ExampleInit {
  readonly repeats?: number;
  readonly hosts?: number;
  readonly name?: string;
  readonly isSimulated?: boolean;
  readonly isCutOff?: boolean;
  /** Heartbeats' period of each configuration, ms. */
  readonly configurations?: Readonly<Record<string, number>>;
  /** Written by each rank. */
  readonly output?: string;
}

export function exampleRun(init: ExampleInit = {}): ReportRun {
  const { repeats = 24, hosts = 30, configurations = { 'period 100 ms': 100, 'period 200 ms': 200 } } = init;
  const maker = new HistoryMaker({
    hosts, isSimulated: init.isSimulated ?? false, name: init.name ?? 'ring-failures',
    description: 'Ranks, hosts and links of a ring of heartbeats fail while a stencil program iterates.',
    checks: [
      check({ type: 'no-orphan' }), check({ type: 'detected', withinMs: 450 }, 'in time'),
      check({ type: 'no-false-detection' }), check({ type: 'injected', least: 4 }),
    ],
  });
  const random = generator(11);
  const all = Object.entries(configurations);
  for (let repeat = 1; repeat <= repeats; repeat++) {
    const [configuration = '', periodMs = 100] = all[Math.floor(((repeat - 1) * all.length) / repeats)] ?? [];
    oneRepeat(maker, { repeat, configuration, periodMs, hosts, random, output: init.output ?? 'iteration 100\n' });
  }
  const history = maker.history(init.isCutOff ?? false);
  return { history, summary: summarize(history) };
}

interface RepeatInit {
  readonly repeat: number;
  readonly configuration: string;
  readonly periodMs: number;
  readonly hosts: number;
  readonly output: string;
  readonly random: () => number;
}

function oneRepeat(maker: HistoryMaker, { repeat, configuration, periodMs, hosts, output, random }: RepeatInit): void {
  const pick = (): number => 1 + Math.floor(random() * (hosts - 1));
  const [rank, host, paused, linked] = [pick(), pick(), pick(), pick()];
  const lower = linked + 1;
  const planned: readonly PlannedInjection[] = [
    injection(`${repeat}.kill.1`, 'pkill', [rankVictim(rank)], { args: { signal: 'SIGKILL' } }),
    injection(`${repeat}.crash.1`, 'host', [hostVictim(host)], {
      trigger: { on: 'mark', name: 'iterate', rank: undefined, nth: 1 },
    }),
    injection(`${repeat}.stall.1`, 'pause', [hostVictim(paused)], { durationMs: 120 }),
    injection(`${repeat}.cut.1`, 'link', [{ kind: 'link', ends: [Math.floor((lower - 1) / 2), lower] }], {
      durationMs: 900,
    }),
    injection(`${repeat}.late.1`, 'load', [hostVictim(pick())], { durationMs: 500 }),
  ];
  const run = maker.repeat(repeat, planned, configuration, repeat * 10_000);
  run.clocks(maker.shape.hosts.map((_, index) => ({ host: index, offsetMs: 0, errorMs: 0.12 })));
  run.event(5, { type: 'running' });
  for (let at = 400; at < 4000; at += 400) {
    run.event(at, { type: 'mark', rank: 0, host: 0, name: 'iterate', wallMs: run.wall(at) });
  }
  faults(run, { repeat, rank, host, paused, lower, periodMs, random });
  run.output(3900, 0, output);
  const isEnded = repeat % 6 === 0;
  if (isEnded) run.event(3400, { type: 'ending', reason: 'host failed' });
  if (repeat % 11 === 7) run.suspects(pick(), 3000);
  run.state(`${repeat}.late.1`, 'never', 4000).end(isEnded ? 3600 : 4000 + random() * 600, {
    exitCode: isEnded ? 137 : 0, failed: [rank], isTimeOut: repeat % 17 === 15,
  });
}

function faults(run: RepeatMaker, init: {
  readonly repeat: number; readonly rank: number; readonly host: number; readonly paused: number;
  readonly lower: number; readonly periodMs: number; readonly random: () => number;
}): void {
  const { repeat, rank, host, paused, lower, periodMs, random } = init;
  const killMs = 300 + random() * 500;
  const seenMs = killMs + 2 + random() * 4;
  run.injected(`${repeat}.kill.1`, killMs, rank)
    .rankFails(rank, { failedMs: killMs + 0.6, detectedMs: seenMs, notifiedMs: seenMs + 3 + random() * 3, detector:
      'process' })
    .event(seenMs + 500, { type: 'started', rank, host: rank, pid: 9, wallMs: run.wall(seenMs + 450), attempt: 2 });
  const stallMs = 1000 + random() * 300;
  run.injected(`${repeat}.stall.1`, stallMs, paused).state(`${repeat}.stall.1`, 'undone', stallMs + 120, paused);
  const crashMs = 1800 + random() * 500;
  const foundMs = crashMs + periodMs * (1 + random());
  run.injected(`${repeat}.crash.1`, crashMs, host)
    .hostFails(host, {
      heardMs: crashMs - periodMs * random(), suspectedMs: foundMs - 10, detectedMs: foundMs,
      notifiedMs: foundMs + 8 + random() * 10,
    })
    .event(foundMs + 700, {
      type: 'host-up', host, name: `n${host}`, up: 1, total: 1, incarnation: 2,
    });
  const cutMs = 2800 + random() * 200;
  run.injected(`${repeat}.cut.1`, cutMs).state(`${repeat}.cut.1`, 'undone', cutMs + 900).suspects(lower - 1, cutMs +
    130);
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
