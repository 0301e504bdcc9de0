// @ts-check
/**
 * Service component `rollcall`: how the processes of a job find one another. Each rank inherits a socket. It writes a
 * line, such as an address at which it listens, and reads those of all ranks, `RANK LINE` each and an empty one in the
 * end, once every rank has written its own or has ended. Then the next call may begin.
 */

import { accept, decline, defineComponent, serviceFramework } from '@stci/core/component';
import { controllerPart } from './controller-part.js';
import { hostPart } from './host-part.js';

export const serviceRollCall = defineComponent({
  framework: serviceFramework,
  name: 'rollcall',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Each rank says a line, and gets those of all ranks once the last one has said its own.',
  params: {
    line: { type: 'size', default: 1024, min: 16, max: 65536, help: 'Longest line; more of it is left out.' },
  },
  query: ({ named }) => (named === true ? accept(10, 'selected by name') : decline('only by name')),
  create: (_deps, params) => ({
    atHost: (part) => hostPart(part, Number(params['line'])),
    atController: controllerPart,
  }),
});
