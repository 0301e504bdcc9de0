/** Reads the files that parameters may stand in and resolves them with the environment and the command line. */

import {
  paramFilePaths,
  resolveParams,
  type ConfigFile,
  type ParamFile,
  type ParamInputs,
  type Registry,
  type Resolution,
} from '@stci/core';
import { StciError } from '@stci/interface';
import type { Variables } from '../cli/environment.js';
import { resolveFrom } from '../files/caller-directory.js';
import { readBounded, readReason, readRemedy } from '../files/read-file.js';
import { readTrustedFile } from '../files/trusted-file.js';

/** A larger file is not a file of parameters. */
const FILE_BYTES_MAX = 4 << 20;

export interface ParamsRequest {
  readonly mca: readonly { readonly key: string; readonly value: string; readonly origin: string }[];
  readonly am: readonly string[];
}

export interface LoadedParams extends Resolution {
  /** Every file that was found, and every fixed name that was tried. */
  readonly files: readonly ConfigFile[];
}

/** What was read, before any of it is looked at. */
export interface ReadParams {
  readonly inputs: ParamInputs;
  readonly warnings: readonly string[];
  readonly files: readonly ConfigFile[];
}

/** Throws STCI_PARAM_FILE. */
export function readParams(request: ParamsRequest, wdir: string | undefined, env: Variables): ReadParams {
  const paths = paramFilePaths(wdir, env);
  const files: ConfigFile[] = [];
  const warnings: string[] = [];
  const readFound = (source: ConfigFile['source'], path: string): string | undefined => {
    const found = readTrustedFile(path, FILE_BYTES_MAX);
    if (found.state !== 'absent' || source !== 'project file') {
      files.push({ source, path, state: found.state, ...('reason' in found && { reason: found.reason }) });
    }
    if (found.state === 'ignored') warnings.push(`${path} is ignored: ${found.reason}. ${found.remedy}.`);
    if (found.state === 'unreadable') onUnreadable(source, path, found.reason, warnings);
    return found.state === 'read' ? found.text : undefined;
  };
  const override = readFound('override', paths.override);
  const project = firstRead(paths.project, (path) => readFound('project file', path));
  const user = paths.user === undefined ? undefined : { path: paths.user, text: readFound('user file', paths.user) };
  const system = readFound('system file', paths.system);
  const inputs: ParamInputs = {
    override: { path: paths.override, text: override },
    commandLine: request.mca,
    amFiles: request.am.map((name) => ({ path: name, text: readNamed(resolveFrom(wdir, name, '--am'), name) })),
    environment: env,
    ...(project !== undefined && { project }),
    ...(user !== undefined && { user }),
    system: { path: paths.system, text: system },
  };
  return { inputs, warnings, files };
}

/** Throws STCI_PARAM_* and STCI_MCA_COMPONENT_UNKNOWN, all problems in one error. */
export function resolveRead(registry: Registry, { inputs, warnings, files }: ReadParams): LoadedParams {
  const resolution = resolveParams(registry.catalog, inputs, registry.rules);
  return { ...resolution, warnings: [...warnings, ...resolution.warnings], files };
}

/** The nearest file that may be trusted. */
function firstRead(paths: readonly string[], read: (path: string) => string | undefined): ParamFile | undefined {
  for (const path of paths) {
    const text = read(path);
    if (text !== undefined) return { path, text };
  }
  return undefined;
}

/**
 * An administrator's file that cannot be read is an error, since its settings would be dropped; others are
 * optional.
 */
function onUnreadable(source: ConfigFile['source'], path: string, reason: string, warnings: string[]): void {
  if (source === 'user file') return;
  if (source === 'project file') warnings.push(`${path} is ignored: it cannot be read: ${reason}.`);
  else throw new StciError('STCI_PARAM_FILE', `${path} cannot be read: ${reason}. Correct it or move it away.`);
}

/** A file that the user names is used whoever owns it; it is an error if it does not exist. */
function readNamed(path: string, name: string): string {
  try {
    return readBounded(path, FILE_BYTES_MAX);
  } catch (thrown) {
    const text = `--am ${name} cannot be read: ${readReason(thrown)}. ${readRemedy(thrown)}`;
    throw new StciError('STCI_PARAM_FILE', text);
  }
}
