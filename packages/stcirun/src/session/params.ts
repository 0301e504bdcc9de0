/** Parameters of sessions that stay; read by the front-end and by the session's own process. */

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
