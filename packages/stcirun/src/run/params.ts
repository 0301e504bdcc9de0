/** Reads the files that parameters may stand in and resolves them with the environment and the command line. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { paramFilePaths, resolveParams, type ParamFile, type Registry, type Resolution } from '@stci/core';
import { StciError } from '@stci/interface';
import type { Variables } from '../cli/environment.js';

/** A file of parameters that is larger is surely another file. */
const FILE_BYTES_MAX = 4 << 20;

export interface ParamsRequest {
  readonly mca: readonly { readonly key: string; readonly value: string; readonly origin: string }[];
  readonly am: readonly string[];
}

/** Throws STCI_PARAM_* and STCI_MCA_COMPONENT_UNKNOWN, all problems in one error. */
export function loadParams(registry: Registry, request: ParamsRequest, wdir: string, env: Variables): Resolution {
  const paths = paramFilePaths(wdir, env);
  const project = firstThere(paths.project);
  return resolveParams(
    registry.catalog,
    {
      override: readParamFile(paths.override),
      commandLine: request.mca,
      amFiles: request.am.map((name) => ({ path: name, text: readParamFile(resolve(wdir, name)).text })),
      environment: env,
      ...(project !== undefined && { project }),
      ...(paths.user !== undefined && { user: readParamFile(paths.user) }),
      system: readParamFile(paths.system),
    },
    registry.rules,
  );
}

function firstThere(paths: readonly string[]): ParamFile | undefined {
  for (const path of paths) {
    const file = readParamFile(path);
    if (file.text !== undefined) return file;
  }
  return undefined;
}

/** Without text where there is no such file. One that is there and cannot be read is an error. */
function readParamFile(path: string): ParamFile {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length <= FILE_BYTES_MAX) return { path, text };
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { path, text: undefined };
    throw new StciError('STCI_PARAM_FILE', `${path} cannot be read: ${message}. Mend it or move it away.`);
  }
  throw new StciError('STCI_PARAM_FILE', `${path} is larger than ${FILE_BYTES_MAX} bytes: no file of parameters is.`);
}
