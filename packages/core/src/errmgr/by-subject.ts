/** An error manager of several: one for each kind of what failed, one for the rest. Pure. */

import type { ErrorManager, Failure } from '@stci/interface';
import { SUBJECTS, subjectOf, type Subject } from './kinds.js';

export function bySubject(rest: ErrorManager, own: Readonly<Partial<Record<Subject, ErrorManager>>>): ErrorManager {
  const chosen = SUBJECTS.filter((subject) => own[subject] !== undefined);
  if (chosen.length === 0) return rest;
  const of = (failure: Failure): ErrorManager => {
    const subject = subjectOf(failure);
    // A session agent is lost as a host is, if nothing else is said.
    return (subject && own[subject]) ?? (subject === 'agent' ? own.host : undefined) ?? rest;
  };
  const managers = [rest, ...Object.values(own)];
  const hasLocal = managers.some(({ local }) => local !== undefined);
  return {
    policy: [...chosen.map((subject) => `${subject}=${own[subject]?.policy}`), rest.policy].join(','),
    policyOf: (failure) => of(failure).policy,
    toleratesFailures: managers.some(({ toleratesFailures }) => toleratesFailures),
    decide: (failure, context) => (context.of === 'session' ? rest : of(failure)).decide(failure, context),
    ...(hasLocal && { local: (failure, context) => of(failure).local?.(failure, context) ?? { type: 'report' } }),
  };
}
