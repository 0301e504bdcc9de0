/**
 * The suites of launcherprocs, made with nothing but the component: on this machine, with real processes that run an
 * agent (launcherproc-agent.ts), and in simulation. A module of its own, `@stci/compliance/launcherproc`: it loads both
 * platforms.
 */

import { fileURLToPath } from 'node:url';
import { runAgent } from '@stci/core';
import { launcherprocFramework } from '@stci/core/component';
import { AGENT_METHODS, type AgentMethod, type LauncherProc, type LauncherProcDeps } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { createWorld, type AgentContext } from '@stci/platform-sim';
import * as assert from '../kit/assert.js';
import { checkCases, type SuiteCall } from '../kit/cases.js';
import { checkTexts, paramsOf } from '../kit/component-record.js';
import { promised } from '../kit/counterexample.js';
import { eventually } from '../kit/deadline.js';
import { skip } from '../kit/running-test.js';
import { suite, type TestApi } from '../kit/suite.js';
import {
  checkMethod, checkName, checkParams, checkReach, type LauncherProcComponent,
} from './launcherproc-asked.js';
import {
  LAUNCHERPROC, SPOKEN, launcherProcCompliance, reachCompliance, type BadAgent, type LauncherProcSetup,
} from './launcherproc.js';

export type { LauncherProcComponent };

export interface LauncherProcVariant {
  /** Used in the names of suites. */
  readonly label: string;
  /** Parameters of the component, by short name, as a user sets them. */
  readonly params?: Readonly<Record<string, string>>;
  /** How agents can be started; default: as processes, as threads, and by `inline`. */
  readonly methods?: readonly AgentMethod[];
  /** False: not with real processes, which need what this machine lacks; a text says why. */
  readonly real?: false | string;
  /** False: not in simulation, which has no programs but agents. */
  readonly simulated?: false;
}

const AGENT = fileURLToPath(new URL('launcherproc-agent.js', import.meta.url));

const SIMULATED_HOSTS = 9;

const COMMANDS: Readonly<Record<BadAgent | 'good', readonly string[]>> = {
  good: [process.execPath, AGENT],
  missing: ['/no/such/agent'],
  exits: ['sh', '-c', 'exit 3'],
  silent: ['sleep', '60'],
  speaks: ['sh', '-c', 'echo "$1" >&2; exit 103', 'sh', SPOKEN],
};

/** What comes up, and loads nothing: the suite closes its link. */
const MAINS: Readonly<Record<BadAgent | 'good', ((context: AgentContext) => void) | undefined>> = {
  good: ({ platform, channel, exit }) => {
    runAgent({ platform, channel, load: () => undefined, exit: ({ failed }) => exit(failed ? 1 : 0) });
  },
  missing: undefined,
  exits: ({ exit }) => exit(3),
  silent: ({ platform }) => void platform.clock.after(60_000, () => undefined),
  speaks: ({ diagnostic, exit }) => {
    diagnostic(SPOKEN);
    exit(103);
  },
};

const CALL: SuiteCall<LauncherProcVariant> = {
  suite: 'launcherProcSuites',
  framework: 'launcherproc',
  fields: {
    label: 'text',
    params: 'an object of texts, as a user sets parameters',
    methods: 'a list',
    real: 'false, or a text',
    simulated: 'false',
  },
  required: ['label'],
};

/** Defines suites: of the record; of starts and of `reach`, with real processes and in simulation. */
export function launcherProcSuites(
  component: LauncherProcComponent,
  variants: readonly LauncherProcVariant[] = [{ label: 'default' }],
): void {
  checkCases(CALL, component, variants);
  const { name } = component;
  suite(`launcherproc compliance: ${name}`, (test) => {
    test('record', () => promised(LAUNCHERPROC, { promise: 'record' }, () => {
      assert.is(component.framework.name, launcherprocFramework.name, 'it is a component of framework launcherproc');
      checkTexts(component, { hosts: [] });
      paramsOf(component);
    }));
    for (const { label, params = {}, methods = AGENT_METHODS } of variants) {
      asking(test, component, label, params, methods);
    }
  });
  for (const { label, params, methods: all = AGENT_METHODS, real, simulated } of variants) {
    const methods = all.filter((method) => method !== 'inline');
    const make = (platform: LauncherProcDeps['platform']): LauncherProc => {
      const inline = (): never => { throw new Error('this suite starts no objects'); };
      const deps = { platform, inline, leaseMs: 10_000 };
      return component.create(deps, Object.freeze(paramsOf(component, params)), { hosts: [] });
    };
    if (real === undefined) {
      const until: LauncherProcSetup['until'] = async (condition, what) => void (await eventually(condition, { what }));
      const what = `${name}, ${label}, on this machine`;
      launcherProcCompliance(what, {
        methods,
        make: (bad) => {
          const platform = createNodePlatform({ agentCommand: COMMANDS[bad ?? 'good'], agentMain: AGENT });
          return { launcherProc: make(platform), platform, params: {}, until };
        },
      });
      reachCompliance(what, () => {
        const platform = createNodePlatform();
        return { launcherProc: make(platform), far: platform.network, host: 'localhost', until };
      });
    }
    if (simulated === undefined) simulatedSuites(`${name}, ${label}, in simulation`, methods, make);
  }
}

/** What it makes of what it is asked, with these parameters. */
function asking(
  test: TestApi, component: LauncherProcComponent, label: string, params: Readonly<Record<string, string>>,
  methods: readonly AgentMethod[],
): void {
  const check = (promise: 'name' | 'params' | 'asks', body: () => void): void =>
    test(`${label}: ${promise}`, () => promised(LAUNCHERPROC, { promise }, body), { timeoutMs: 60_000 });
  check('name', () => checkName(component, params));
  check('params', () => {
    if (Object.keys(component.params).length === 0) return skip('it has no parameters');
    checkParams(component, params);
  });
  check('asks', () => checkReach(component, params));
  test(`${label}: method`, async () => {
    for (const method of methods) {
      const example = { promise: 'method', method } as const;
      await promised(LAUNCHERPROC, example, () => checkMethod(component, params, method));
    }
  }, { timeoutMs: 60_000 });
}

function simulatedSuites(
  what: string,
  methods: readonly AgentMethod[],
  make: (platform: LauncherProcDeps['platform']) => LauncherProc,
): void {
  let seed = 0;
  const world = () => {
    const made = createWorld({ seed: seed++ });
    const until: LauncherProcSetup['until'] = async (condition, name) => {
      if (!condition()) made.run({ untilMs: made.nowMs + 60_000, until: condition, maxEvents: 5_000_000 });
      const [fault] = made.faults;
      if (fault !== undefined) throw fault.error;
      assert.ok(condition(), `waited in vain for ${name}`);
    };
    return { made, platform: made.platform('h'), until };
  };
  launcherProcCompliance(what, {
    methods,
    hosts: SIMULATED_HOSTS,
    make: (bad) => {
      const { made, platform, until } = world();
      const main = MAINS[bad ?? 'good'];
      if (main !== undefined) made.program('stci-agent', main);
      return { launcherProc: make(platform), platform, params: {}, until };
    },
  });
  reachCompliance(what, () => {
    const { platform, until } = world();
    return { launcherProc: make(platform), far: platform.network, host: 'localhost', until };
  });
}
