/** Launcherproc `local` in simulation: the same suite as on a real machine, all three methods. */

import { createLocal } from '@stci/launcher-local';
import { runAgent, roleFactory } from '@stci/core';
import { assert } from '@stci/testkit';
import {
  SPOKEN, launcherProcCompliance, reachCompliance, type BadAgent, type Until,
} from '@stci/testkit/compliance';
import type { AgentContext } from '@stci/platform-sim';
import { startInline } from '../../dist/boot/inline.js';
import { resolved, composition } from '../assembly.js';
import { testPlace } from '../world.js';

const { snapshot } = resolved({});
const starter = roleFactory(composition);

function agentMain({ platform, channel, exit }: AgentContext): void {
  runAgent({ platform, channel, load: (done) => done(starter), exit: ({ failed }) => exit(failed ? 1 : 0) });
}

const MAINS: Readonly<Record<BadAgent | 'good', ((context: AgentContext) => void) | undefined>> = {
  good: agentMain,
  missing: undefined,
  exits: ({ exit }) => exit(3),
  silent: ({ platform }) => void platform.clock.after(60_000, () => undefined),
  speaks: ({ diagnostic, exit }) => {
    diagnostic(SPOKEN);
    exit(103);
  },
};

let seed = 0;

launcherProcCompliance('local in simulation', {
  methods: ['process', 'thread', 'inline'],
  make: (bad) => {
    const place = testPlace(seed++);
    const { platform, world } = place;
    const main = MAINS[bad ?? 'good'];
    if (main !== undefined) world.program('stci-agent', main);
    const launcherProc = createLocal({ platform, inline: (start, events) => startInline(platform, starter, start,
      events) });
    return { launcherProc, platform, params: snapshot, until: untilOf(place) };
  },
});

function untilOf(place: ReturnType<typeof testPlace>): Until {
  return async (condition, what) => {
    place.until(condition, what);
    place.run(1000);
    assert.ok(condition(), what);
  };
}

reachCompliance('local in simulation', () => {
  const place = testPlace(seed++);
  const { platform } = place;
  const launcherProc = createLocal({ platform, inline: () => assert.unreachable('not inline') as never });
  return { launcherProc, far: platform.network, host: 'localhost', until: untilOf(place) };
});
