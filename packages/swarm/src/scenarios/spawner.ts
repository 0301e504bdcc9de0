/**
 * Spawner: a service of jobs that grow. Once so many ranks have started, the last of them has further ranks started;
 * the plan is a parameter. A warning says which of its entries has got which ranks: from there the checkers know.
 */

import { accept, decline, defineComponent, type JobEvent, type Rank, type ServiceController } from '@stci/interface';
import { serviceFramework } from '@stci/core/component';
import type { SimRandom } from '@stci/platform-sim';
import { drawApp, drawLongApp, type AppPlan } from './programs.js';

interface PlannedSpawn {
  /** Starts of ranks, attempts and spawned ones included, after which it is asked for. */
  readonly afterStarts: number;
  readonly afterMs: number;
  readonly apps: readonly AppPlan[];
}

const PLAN = 'service.spawner.plan';

const GOT = /^service spawner: entry (\d+) of its plan has ranks from (\d+) on$/u;

/** Settings of a job that grows, in some runs. By a fork: the other draws do not depend on it. */
export function drawSpawns(random: SimRandom, ranks: number, isBig: boolean): Record<string, string> {
  const fork = random.fork('spawns');
  if (!fork.chance(0.2)) return {};
  const plan = Array.from({ length: 1 + fork.integer(4) }, (): PlannedSpawn => {
    const app = (): AppPlan => {
      const count = 1 + fork.integer(4);
      return fork.chance(0.3) ? drawLongApp(fork, count) : drawApp(fork, count, isBig || fork.chance(0.5));
    };
    return {
      afterStarts: 1 + fork.integer(ranks + 4), afterMs: fork.pick([0, 0, 0.05, 1, 30, 400]),
      apps: fork.chance(0.3) ? [app(), app()] : [app()],
    };
  });
  return { service: 'spawner', [PLAN]: JSON.stringify(plan) };
}

/** The programs of the ranks that were spawned, in their order, as the front-end was told. */
export function spawnedApps(settings: Readonly<Record<string, string>>, events: readonly JobEvent[]): AppPlan[] {
  const plan = planOf(settings[PLAN]);
  const texts = events.flatMap((event) => (event.type === 'warning' ? [event.text] : []));
  const told = texts.map((text) => GOT.exec(text)).filter((got) => got !== null);
  const entries = told.sort((a, b) => Number(a[2]) - Number(b[2])).map((got) => plan[Number(got[1])]!);
  return entries.flatMap(({ apps }) => apps.flatMap((app) => Array.from({ length: app.count }, () => app)));
}

/** The programs that it may spawn. */
export function plannedApps(settings: Readonly<Record<string, string>>): readonly AppPlan[] {
  return planOf(settings[PLAN]).flatMap(({ apps }) => apps);
}

function planOf(text = ''): readonly PlannedSpawn[] {
  return text === '' ? [] : JSON.parse(text) as readonly PlannedSpawn[];
}

function controllerPart(part: ServiceController, plan: readonly PlannedSpawn[]) {
  let starts = 0;
  const ask = (index: number, parent: Rank): void => {
    const apps = plan[index]!.apps.map((app) => ({ ...app, env: {} }));
    part.spawn({ parent, apps }, (spawn) => {
      if (spawn !== undefined) part.warn(`entry ${index} of its plan has ranks from ${spawn.first} on`);
    });
  };
  return {
    onMessage: (_host: number, body: unknown) => {
      starts += 1;
      for (const [index, { afterStarts, afterMs }] of plan.entries()) {
        if (afterStarts === starts) part.after(afterMs, () => ask(index, body as Rank));
      }
    },
  };
}

export const serviceSpawner = defineComponent({
  framework: serviceFramework,
  name: 'spawner',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Has further ranks of its job started while that runs.',
  params: { plan: { type: 'string', default: '', help: 'When, and which programs, as JSON.' } },
  query: ({ named }) => (named === true ? accept(1, 'selected by name') : decline('only by name')),
  create: (_deps, params) => ({
    atHost: (part) => ({
      onStart: (rank) => {
        part.send(rank);
        return {};
      },
    }),
    atController: (part) => controllerPart(part, planOf(String(params['plan']))),
  }),
});
