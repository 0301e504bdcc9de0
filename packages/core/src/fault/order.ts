/** What an order of a fault has to be, checked against its kind: arguments, victim, duration. Pure. */

import type { FaultModule, FaultOrder, ParamSpecs, ParamValue, VictimKind } from '@stci/interface';
import { didYouMean, expectedForm, formatValue, valueProblem } from '@stci/registry';

export type FaultArgs = Readonly<Record<string, ParamValue>>;

/** Arguments with the defaults of those that are not given, or what is wrong with them. */
export function completeFaultArgs(
  kind: string,
  specs: ParamSpecs,
  args: FaultArgs,
): { readonly args: FaultArgs } | { readonly problem: string } {
  for (const [name, value] of Object.entries(args)) {
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
    if (spec === undefined) {
      const names = Object.keys(specs);
      const known = names.length === 0 ? 'has no arguments' : `has ${names.join(', ')}`;
      return { problem: `fault ${kind} has no argument ${name}; it ${known}.${didYouMean(name, names)}` };
    }
    const problem = valueProblem(spec, value);
    if (problem === undefined) continue;
    const shown = typeof value === 'string' ? `'${value}'` : formatValue(spec, value);
    return { problem: `argument ${name} of fault ${kind}: ${shown} ${problem}; expected ${expectedForm(spec)}` };
  }
  const defaults = Object.entries(specs).map(([name, spec]) => [name, spec.default] as const);
  return { args: { ...Object.fromEntries(defaults), ...args } };
}

const VICTIM_NAMES: Readonly<Record<VictimKind, string>> = {
  rank: 'a rank', agent: 'an agent', host: 'a host', link: 'a link', partition: 'a partition',
};

/** Whether a fault has a duration is a matter of its kind. `option`: where its user gives one. */
export function durationProblem(
  kind: string, { undoes }: Pick<FaultModule, 'undoes'>, isGiven: boolean, option: string,
): string | undefined {
  if (undoes === isGiven) return undefined;
  if (isGiven) return `kind ${kind} leaves nothing to undo. Leave ${option} out.`;
  return `kind ${kind} is undone after a time, which is missing. Add ${option}, such as 2s.`;
}

/** What is wrong with an order whose arguments are complete; undefined: nothing. `option`: of its duration. */
export function faultOrderProblem(
  { kind, args, victim, durationMs }: Pick<FaultOrder, 'kind' | 'args' | 'victim' | 'durationMs'>,
  module: FaultModule,
  option = 'the duration',
): string | undefined {
  if (!module.victims.includes(victim.kind)) {
    const expected = module.victims.map((each) => VICTIM_NAMES[each]).join(' or ');
    return `fault ${kind} is done to ${expected}, not to ${VICTIM_NAMES[victim.kind]}`;
  }
  return durationProblem(kind, module, durationMs !== undefined, option)
    ?? module.problemOf({ args, victim, durationMs });
}
