/** The part of `stcirun --help` that lists the components of the plugins that the command line and files name. */

import { wrapText } from '@stci/core';
import { StciError } from '@stci/interface';
import type { Variables } from '../cli/environment.js';
import { callerDirectory } from '../files/caller-directory.js';
import { PATHS } from '../plugin/params.js';
import { readParams, type ParamsRequest } from './params.js';

const COLUMNS_MAX = 100;
const TEXT_COLUMN = 33;

/** Empty where there are no plugins. One that cannot be used is named with the reason. */
export async function pluginHelp(request: ParamsRequest): Promise<string> {
  const wdir = callerDirectory();
  try {
    const { inputs } = readParams(request, wdir, process.env as Variables);
    const files = [inputs.override, inputs.project, inputs.user, inputs.system, ...(inputs.amFiles ?? [])];
    if (request.mca.length === 0 && !files.some((file) => file?.text?.includes(PATHS) === true)) return '';
    const { findPlugins } = await import('./settings.js');
    const plugins = await findPlugins(inputs, wdir);
    return plugins.map(({ path, components }) => `\nPlugin ${path}:\n${components.map(lineOf).join('')}`).join('');
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    return `\nPlugins: ${thrown.message}\n`;
  }
}

function lineOf({ framework, name, help }: {
  readonly framework: { readonly name: string }; readonly name: string; readonly help: string;
}): string {
  const [first = '', ...more] = wrapText(help, COLUMNS_MAX - TEXT_COLUMN);
  const indent = ' '.repeat(TEXT_COLUMN);
  return [`  ${framework.name}:${name}`.padEnd(TEXT_COLUMN - 1) + ` ${first}`, ...more.map((text) => indent + text)]
    .map((text) => `${text}\n`).join('');
}
