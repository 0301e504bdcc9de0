/** Reads the files of groups of hosts that parameters name, and puts the groups in their place: agents get no files. */

import { groupRuns, HOSTFILE_BYTES_MAX, parseHostGroups, withParams, type Registry } from '@stci/core';
import { StciError, type HostSpec, type Params } from '@stci/interface';
import { resolveFrom } from '../files/caller-directory.js';
import { readTrustedFile } from '../files/trusted-file.js';

interface GivenParams {
  readonly registry: Registry;
  readonly params: Params;
  /** Directory of relative paths; undefined where it was removed. */
  readonly wdir: string | undefined;
}

/** `hosts`: those of the session, in order. Throws STCI_PARAM_FILE and STCI_HOSTFILE_INVALID. */
export function withHostGroups(
  { registry: { catalog }, params, wdir }: GivenParams, hosts: readonly HostSpec[],
): Params {
  const names = hosts.map((host) => host.name);
  const texts = new Map<string, string>();
  for (const { name, owner, spec: { hostGroupsAs } } of catalog.values()) {
    if (hostGroupsAs === undefined || !isUsed(owner, params)) continue;
    const [, path] = /^file:(.+)$/s.exec(params.string(name)) ?? [];
    if (path === undefined) continue;
    const groups = parseHostGroups(path, readGroups(name, path, wdir));
    if (names.length > 1 && !names.some((host) => groups.has(host))) {
      throw new StciError('STCI_PARAM_FILE', `${name}: ${path} names none of the hosts that are used.`);
    }
    texts.set(name, hostGroupsAs + groupRuns(groups, names));
  }
  return texts.size === 0 ? params : withParams(catalog, params, texts);
}

/** A file of parameters may name a file of groups for components that a run does not select. */
function isUsed(owner: string, params: Params): boolean {
  const [framework = '', component] = owner.split(':');
  return component === undefined || params.list(framework).includes(component);
}

function readGroups(name: string, path: string, wdir: string | undefined): string {
  const found = readTrustedFile(resolveFrom(wdir, path, name), HOSTFILE_BYTES_MAX);
  if (found.state === 'read') return found.text;
  const why = found.state === 'absent' ? 'cannot be read: no such file'
    : found.state === 'unreadable' ? `cannot be read: ${found.reason}`
      : `is not used: ${found.reason}. Only a file counts that nobody but you or root can write`;
  throw new StciError('STCI_PARAM_FILE', `${name}: ${path} ${why}.`);
}
