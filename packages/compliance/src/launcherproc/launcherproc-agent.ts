/** An agent that comes up and does nothing else: what the suite of launcherprocs has started on this machine. */

import { runAgent } from '@stci/core/main';
import { createNodePlatform, openAgentChannel, releaseStdio } from '@stci/platform-node';

runAgent({
  platform: createNodePlatform(),
  channel: openAgentChannel(),
  release: releaseStdio,
  load: () => undefined,
  exit: ({ failed }) => process.exit(failed ? 1 : 0),
});
