/**
 * An error manager whose faults are its own: where it throws, its policy is that of `abort`; in an agent the failure is
 * reported, and the controller's decides. Pure.
 */

import type { Action, ErrorManager, FailureContext } from '@stci/interface';

const NAMED = 'its own name is that of the policy';
const REPORTED = 'what failed is reported to the controller';

export function guarded(manager: ErrorManager, onFault: (text: string) => void): ErrorManager {
  const { policy, toleratesFailures } = manager;
  const attempt = <T>(call: () => T, otherwise: T, instead = 'abort takes its place'): T => {
    try {
      return call();
    } catch (fault) {
      const text = fault instanceof Error ? fault.message : String(fault);
      onFault(`error manager ${policy} failed, ${instead}: ${text}`);
      return otherwise;
    }
  };
  return {
    policy,
    toleratesFailures,
    ...(manager.policyOf !== undefined && {
      policyOf: (failure) => attempt(() => manager.policyOf?.(failure), undefined, NAMED) ?? policy,
    }),
    decide: (failure, context) => attempt(() => manager.decide(failure, context), [abort(context)]),
    ...(manager.local !== undefined && {
      local: (failure, context) =>
        attempt(() => manager.local?.(failure, context), undefined, REPORTED) ?? { type: 'report' },
    }),
  };
}

function abort(context: FailureContext): Action {
  if (context.of === 'job') return { type: 'end-job' };
  return { type: context.phase === 'launching' ? 'end-launch' : 'leave-out' };
}
