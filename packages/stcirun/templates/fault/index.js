// @ts-check
/**
 * Fault `sample`: a rank stands still for a time. Pure, in two parts: the plan, made at the controller, says which
 * agents take part; the machine, at each of them, answers events with actions.
 */

import { accept, defineComponent, faultFramework } from '@stci/core/component';

/** @type {import('@stci/interface').FaultModule} */
const module = {
  victims: ['rank'],
  undoes: true,
  args: {
    whom: {
      type: 'enum', default: 'group', values: ['process', 'group'],
      help: 'The rank alone, or what it has started, too.',
    },
  },
  impactOf: () => 'disturbs',
  problemOf: () => undefined,
  plan: ({ victim }, place) => {
    const host = victim.kind === 'rank' ? place.hostOf(victim.rank) : undefined;
    return host === undefined ? 'the rank does not run' : [{ at: { role: 'session', host }, body: {} }];
  },
  open: ({ order: { args, victim } }) => {
    const ranks = victim.kind === 'rank' ? [victim.rank] : [];
    const whom = args['whom'] === 'process' ? 'process' : 'group';
    let isUndoing = false;
    return {
      dueMs: undefined,
      on: (event) => {
        switch (event.type) {
          case 'inject':
            return [{ type: 'signal', key: 'stop', ranks, signal: 'SIGSTOP', whom }];
          case 'undo':
            isUndoing = true;
            return [{ type: 'signal', key: 'continue', ranks, signal: 'SIGCONT', whom }];
          case 'done':
            // A rank that is gone needs no undoing.
            if (isUndoing) return event.key === 'continue' ? [{ type: 'undone' }] : [];
            if (event.problem !== undefined) return [{ type: 'failed', reason: event.problem }];
            return [{ type: 'injected', text: `rank ${ranks.join()} stands still` }];
          default:
            return [];
        }
      },
    };
  },
};

export const component = defineComponent({
  framework: faultFramework,
  name: 'sample',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A rank stands still for a time.',
  params: {},
  args: module.args,
  query: () => accept(50),
  create: () => module,
});
