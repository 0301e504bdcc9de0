/** A launcherproc of a plugin, as users write them: the agent's command behind a wrapper, which may go wrong. */

import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePackage } from './plugin-package.js';

const HELP = 'Agents behind a wrapper.';

const CODE = `import { accept, decline, defineComponent, launcherprocFramework, reachHere } from '@stci/core/component';
import { fileURLToPath } from 'node:url';

export const wrap = defineComponent({
  framework: launcherprocFramework, name: 'wrap', version: '1.0.0', frameworkVersion: 1, help: '${HELP}', params: {},
  query: ({ named }) => (named === true ? accept(10) : decline('only by name')),
  create: ({ platform, inline }) => ({
    name: 'wrap',
    start: (start, events) => {
      if (start.method === 'inline') return inline(start, events);
      const wrapper = fileURLToPath(new URL('./wrapper.sh', import.meta.url));
      const command = ['sh', wrapper, start.host.name, ...platform.processes.agentCommand];
      return platform.processes.spawnAgent(start.method, command, events);
    },
    reach: (reach, events) => reachHere(platform, reach, events),
  }),
});
`;

/** What becomes of the agent is by the name of its host. */
const WRAPPER = `host=$1
shift
case $host in
  banner) echo 'Welcome to cluster Foo'; echo 'license expired' >&2; exit 125 ;;
  status) echo 'no such container' >&2; exit 125 ;;
  absent) exec /no/such/node ;;
  silent) exec sleep 300 ;;
esac
exec "$@"
`;

/** Makes the package in a directory, which the caller removes; its parent has room for a cache and sessions. */
export function makeWrapper(): {
  readonly place: string; readonly plugin: string; readonly env: Record<string, string>;
} {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-wrapper-')));
  const plugin = join(place, 'wrap');
  writePackage(plugin, {
    components: [{ framework: 'launcherproc', name: 'wrap', module: './index.js', help: HELP }],
    files: { 'index.js': CODE, 'wrapper.sh': WRAPPER },
  });
  const env = {
    XDG_CACHE_HOME: join(place, 'cache'), XDG_CONFIG_HOME: join(place, 'config'),
    STCI_MCA_session_directory: join(place, 'sessions'),
  };
  return { place, plugin, env };
}
