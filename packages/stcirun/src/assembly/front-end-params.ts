/** Parameters of the front-end, and of a session's own process; agents do not read them. */

import type { ParamGroup } from '@stci/core';

const MIB = 1024 * 1024;

export const sessionGroup: ParamGroup = {
  name: 'session',
  help: 'Sessions that stay (stci start).',
  params: {
    directory: {
      type: 'string',
      default: '',
      scope: 'front-end',
      help: 'Directory of sessions, an absolute path, with mode 700; empty: /tmp/stci-UID/sessions, or another '
        + 'where somebody else has that name.',
    },
    'spool.max': {
      type: 'size',
      default: 64 * MIB,
      min: MIB,
      max: 1024 * 1024 * MIB,
      scope: 'front-end',
      help: 'Output of one job that is kept on disk until it is shown. Beyond it the oldest is dropped, and how much '
        + 'is told.',
    },
    linger: {
      type: 'duration',
      default: 600_000,
      min: 0,
      max: 86_400_000,
      scope: 'front-end',
      help: 'How long the session that stcirun --detach made keeps the result of its job; its agents end at once.',
    },
  },
};

export const mpiGroup: ParamGroup = {
  name: 'mpi',
  help: 'Programs linked with MPI.',
  params: {
    singletons: {
      type: 'enum',
      values: ['fail', 'warn'],
      default: 'fail',
      scope: 'front-end',
      help: 'Several ranks of a program that is linked with MPI run each as an MPI job of size 1. fail: the job ends '
        + 'with exit code 205, if it would with 0; warn: it is only told.',
    },
  },
};
