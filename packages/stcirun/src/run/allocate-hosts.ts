/** The hosts of a command: its options, its environment, and files are read; a source of hosts is selected. */

import { createSelector, HOSTFILE_BYTES_MAX, platformFacts, type Registry, type Selector } from '@stci/core';
import { allocate } from '@stci/core/allocation';
import { StciError, type HostSpec, type Params, type Platform } from '@stci/interface';
import { resolveFrom } from '../files/caller-directory.js';
import { readBounded, readReason, readRemedy, STANDARD_INPUT } from '../files/read-file.js';
import { readTrustedFile } from '../files/trusted-file.js';

/** Options as a command has them. */
export interface HostOptions {
  readonly host?: readonly string[] | undefined;
  readonly hostfile?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

/** Where they are read. */
export interface HostPlace {
  /** undefined where it was removed. */
  readonly wdir: string | undefined;
  readonly env: Pick<Platform['env'], 'hostname' | 'cpuCount' | 'variables'>;
  readonly selector: Selector;
}

export function hostPlace(
  { registry, params }: { readonly registry: Registry; readonly params: Params },
  platform: Platform,
  wdir: string | undefined,
): HostPlace {
  return { wdir, env: platform.env, selector: createSelector(registry, params, platformFacts(platform)) };
}

/** The hosts, at least one. Throws StciError. */
export function allocateHosts(options: HostOptions, { wdir, env, selector }: HostPlace): HostSpec[] {
  const { host, hostfile, exclude } = options;
  const named = {
    hosts: host ?? [],
    hostfiles: (hostfile ?? []).map((name) => readHostfile(wdir, name)),
    exclude: exclude ?? [],
  };
  return allocate(selector, { variables: env.variables, thisMachine: env, readFile: readNamed }, named);
}

/** Throws STCI_HOSTFILE_INVALID. `name` is what the user wrote; `-` is standard input. */
export function readHostfile(directory: string | undefined, name: string): { name: string; text: string } {
  const path = name === STANDARD_INPUT ? name : resolveFrom(directory, name, '--hostfile');
  try {
    return { name: name === STANDARD_INPUT ? 'standard input' : name, text: readBounded(path, HOSTFILE_BYTES_MAX) };
  } catch (thrown) {
    const text = `--hostfile ${name} cannot be read: ${readReason(thrown)}. ${readRemedy(thrown)}`;
    throw new StciError('STCI_HOSTFILE_INVALID', text);
  }
}

/** A file that a variable names is judged: nobody chose it on the command line. */
function readNamed(variable: string, path: string): string {
  const found = path.startsWith('/') ? readTrustedFile(path, HOSTFILE_BYTES_MAX) : undefined;
  if (found?.state === 'read') return found.text;
  const reason = found === undefined ? 'its path is not absolute'
    : found.state === 'absent' ? 'there is no such file' : found.reason;
  const text = `${variable} names ${path}, which is not used: ${reason}. If you trust a file of hosts, name it: `
    + '--mca allocation=given --hostfile FILE.';
  throw new StciError('STCI_ALLOCATION_INVALID', text);
}
