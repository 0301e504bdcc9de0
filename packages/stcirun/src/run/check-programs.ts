/** What a dry run can check of the programs: those of hosts that are this machine are looked up as by their agents. */

import { withHosts } from '@stci/core/run';
import { fromErrorRecord, type JobMap, type JobSpec } from '@stci/interface';
import { checkProgram } from '@stci/platform-node';

/** Throws for the first program, in the order of the hosts, that could not be started. */
export function checkPrograms(spec: JobSpec, map: JobMap, isHere: (host: string) => boolean): void {
  const checked = new Set<number>();
  for (const { name, runs } of map.hosts.filter(({ name }) => isHere(name))) {
    for (const { app: index } of runs.filter(({ app }) => !checked.has(app))) {
      checked.add(index);
      const app = spec.apps[index];
      if (app === undefined) continue;
      const { program, env, wdir = spec.wdir } = app;
      const found = checkProgram({ program, wdir, env: { ...spec.env, ...env } });
      if (!('error' in found)) continue;
      throw fromErrorRecord({ ...found.error, message: withHosts({ ...found.error, host: name }) });
    }
  }
}
