// @ts-check
/**
 * Error manager `sample`: a rank that a signal has ended is started again, so many times; the others go on. Pure: what
 * failed goes in, what is to be done comes out.
 */

import { accept, decideOnHost, defineComponent, errmgrFramework, isOver } from '@stci/core/component';

export const component = defineComponent({
  framework: errmgrFramework,
  name: 'sample',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A rank that a signal has ended is started again; the others go on.',
  params: {
    times: { type: 'int', default: 1, min: 0, max: 100, scope: 'job', help: 'Further starts of a rank.' },
  },
  query: () => accept(1, 'only by name'),
  create: ({ hosts }, params) => ({
    policy: 'sample',
    toleratesFailures: true,
    // At the controller: about a host, as the session's parameters say; about a job.
    decide: (failure, context) => {
      if (context.of === 'session') return [decideOnHost(hosts, context)];
      return [{ type: isOver(failure) ? 'end-job' : 'go-on' }];
    },
    // Where the rank ran.
    local: (failure, { attempt }) => {
      const isAgain = failure.kind === 'tool-signal' && attempt <= Number(params['times']);
      return isAgain ? { type: 'restart', afterMs: 100 } : { type: 'report' };
    },
  }),
});
