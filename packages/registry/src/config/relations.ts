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
  /** A parameter that was not set takes the other's value where its own would break the relation. */
  readonly follows: boolean;
  /** The other is at least so many times as large; default: 1. */
  readonly times?: number;
}

export function relationRule({ lower, upper, why, follows, times = 1 }: ParamRelation): ParamRule {
  return {
    param: upper,
    settle: (values) => (follows ? follower(values.get(lower), values.get(upper), times) : undefined),
    check: (params) => {
      const [low, high] = [params.int(lower), params.int(upper)];
      if (low * times <= high) return undefined;
      const least = times === 1 ? lower : `${times} × ${lower}`;
      return `${high} is less than ${least} = ${low * times}: else ${why}. Raise ${upper} or lower ${lower}.`;
    },
  };
}

function follower(
  lower: ResolvedParam | undefined,
  upper: ResolvedParam | undefined,
  times: number,
): ResolvedParam | undefined {
  if (lower === undefined || upper === undefined) return undefined;
  const [low, high] = [lower.value as number, upper.value as number];
  if (low * times <= high) return undefined;
  const follow = (self: ResolvedParam, other: ResolvedParam, value: number): ResolvedParam => {
    return { ...self, value, origin: `as ${other.name}` };
  };
  if (lower.source === 'default') return follow(lower, upper, Math.floor(high / times));
  return upper.source === 'default' ? follow(upper, lower, low * times) : undefined;
}
