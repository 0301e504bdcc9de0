/**
 * Relations between parameters that bound one another: each is declared once and checked when parameters are resolved.
 * Where only one of the two was set, and `follows` is true, the other takes its value; else the error names both.
 */

import type { ResolvedParam } from '@stci/interface';
import type { ParamRule } from './catalog.js';

export interface ParamRelation {
  /** This parameter is at most the other. */
  readonly lower: string;
  readonly upper: string;
  /** What would go wrong: the end of a sentence that begins with "else". */
  readonly why: string;
  /** One that was not set takes the other's value where its own would break the relation. */
  readonly follows: boolean;
}

export function relationRule({ lower, upper, why, follows }: ParamRelation): ParamRule {
  return {
    param: upper,
    settle: (values) => (follows ? follower(values.get(lower), values.get(upper)) : undefined),
    check: (params) => {
      const [low, high] = [params.int(lower), params.int(upper)];
      if (low <= high) return undefined;
      return `${high} is less than ${lower} = ${low}: else ${why}. Raise ${upper} or lower ${lower}.`;
    },
  };
}

function follower(lower: ResolvedParam | undefined, upper: ResolvedParam | undefined): ResolvedParam | undefined {
  if (lower === undefined || upper === undefined || lower.value <= upper.value) return undefined;
  const follow = (self: ResolvedParam, other: ResolvedParam): ResolvedParam => {
    return { ...self, value: other.value, origin: `as ${other.name}` };
  };
  if (lower.source === 'default') return follow(lower, upper);
  return upper.source === 'default' ? follow(upper, lower) : undefined;
}
