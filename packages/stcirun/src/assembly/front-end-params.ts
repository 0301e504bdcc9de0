/** Parameters of the front-end, and of a session's own process; agents do not read them. */

import type { ParamGroup } from '@stci/core';
import { param } from '@stci/interface';

const MIB = 1024 * 1024;

export const sessionGroup: ParamGroup = {
  name: 'session',
  help: 'Sessions that stay (stci start).',
  params: {
    directory: param.text('', 'Directory of sessions, an absolute path, with mode 700; empty: /tmp/stci-UID/sessions, '
      + 'or another where somebody else has that name.', 'front-end'),
    'spool.max': param.size(64 * MIB, [MIB, 1024 * 1024 * MIB], 'Output of one job that is kept on disk until it is '
      + 'shown. Beyond it the oldest is dropped, and how much is told.', 'front-end'),
    linger: param.duration(600_000, [0, 86_400_000], 'How long the session that stcirun --detach made keeps the result '
      + 'of its job; its agents end at once.', 'front-end'),
  },
};

export const mpiGroup: ParamGroup = {
  name: 'mpi',
  help: 'Programs linked with MPI.',
  params: {
    singletons: param.choice('fail', ['fail', 'warn'], 'Several ranks of a program that is linked with MPI run each as '
      + 'an MPI job of size 1. fail: the job ends with exit code 205, if it would with 0; warn: it is only '
      + 'told.', 'front-end'),
  },
};
