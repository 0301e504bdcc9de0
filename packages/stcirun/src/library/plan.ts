/** `plan`: what `launch` would do, without starting anything. */

import { StciError } from '@stci/interface';
import { checkDry } from '../run/check-dry.js';
import type { PlannedRun } from '../run/plan-run.js';
import { mapObject, planObject } from '../run/show-plan.js';
import { ask, planAsked, watchPlugins } from './ask.js';
import { inOptionNames } from './option-table.js';
import type { LaunchOptions } from './options.js';
import type { PluginWatch } from './plugin-watch.js';

export interface JobPlan {
  /** Where the ranks run. */
  readonly map: ReturnType<typeof mapObject>;
  /** How the agents are started; undefined in a session, which has them. */
  readonly launch: ReturnType<typeof planObject> | undefined;
  /** What stcirun would print: warnings. */
  readonly messages: readonly string[];
}

/** Map and launch plan, as `--dry-run --json` has them. Rejects with StciError. */
export async function plan(options: LaunchOptions): Promise<JobPlan> {
  const messages: string[] = [];
  let run: PlannedRun | undefined;
  let watch: PluginWatch | undefined;
  const note = (text: string): unknown => messages.push(text.trimEnd());
  try {
    run = await planAsked(ask(options), note, note, {
      watch: async (prepared) => (watch = await watchPlugins(prepared, ({ message }) => note(message))),
      ask: () => {
        throw new StciError('STCI_USAGE', 'plan: with alloc the hosts are known once Slurm has given them: launch it.');
      },
    });
    checkDry(run);
    return { map: mapObject(run), launch: run.session === undefined ? planObject(run) : undefined, messages };
  } catch (thrown) {
    throw inOptionNames(watch?.attributed(thrown) ?? thrown);
  } finally {
    watch?.release();
    run?.session?.client.close();
  }
}
