/**
 * Defaults of ordinary options, from any source of parameters: `option.tag = host` in a file is as if `--tag=host` had
 * been given, unless the command line overrides it. The parameters are declared from the flag table.
 */

import type { ParamGroup } from '@stci/core';
import type { Params, ParamSpec } from '@stci/interface';
import { FLAGS, type FlagName } from './flags.js';

/** Options of the job that have no parameter of their own (as --on-failure has) and ask for no single run's plan. */
export const WITH_DEFAULTS = [
  'hostfile', 'exclude', 'map-by', 'oversubscribe', 'export', 'unset', 'timeout', 'launch-timeout', 'forward-signals',
  'stdin', 'tag', 'color', 'timestamp', 'output', 'gather', 'json', 'exit-report', 'verbose', 'quiet',
] as const satisfies readonly FlagName[];

export type DefaultedName = (typeof WITH_DEFAULTS)[number];

const GROUP = 'option';

/** Parameters have no dashes in their names. */
const shortName = (name: FlagName): string => name.replaceAll('-', '.');

export const optionGroup: ParamGroup = {
  name: GROUP,
  help: 'Defaults of options of stcirun, written as on the command line, which goes over them; a default that cannot '
    + 'be combined with an option that was given is not used; two defaults that cannot be combined are an error.',
  params: Object.fromEntries(WITH_DEFAULTS.map((name) => [shortName(name), specOf(name)])),
};

/** The parameter by which an option has a default; undefined: none. */
export function optionParameter(name: FlagName): string | undefined {
  return WITH_DEFAULTS.some((one) => one === name) ? `${GROUP}.${shortName(name)}` : undefined;
}

function specOf(name: DefaultedName): ParamSpec {
  const help = `--${name}: ${FLAGS[name].description}.`;
  if (FLAGS[name].type === 'boolean') return { type: 'bool', default: false, scope: 'front-end', help };
  return { type: 'string', default: '', scope: 'front-end', help };
}

export interface OptionDefault {
  readonly name: DefaultedName;
  /** As the parser reads it: `--tag=host`. */
  readonly word: string;
  /** For messages: `user file (/home/me/.config/stci/stci.conf:3)`. */
  readonly origin: string;
}

export function optionDefaults(params: Params): readonly OptionDefault[] {
  const resolved = new Map(params.entries().map((param) => [param.name, param]));
  return WITH_DEFAULTS.flatMap((name): OptionDefault[] => {
    const param = resolved.get(`${GROUP}.${shortName(name)}`);
    if (param === undefined || param.value === false || param.value === '') return [];
    const word = param.value === true ? `--${name}` : `--${name}=${String(param.value)}`;
    return [{ name, word, origin: `${param.source} (${param.origin ?? param.source})` }];
  });
}
