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
  const { local } = own.tool ?? rest;
  return {
    policy: [...chosen.map((subject) => `${subject}=${own[subject]?.policy}`), rest.policy].join(','),
    policyOf: (failure) => of(failure).policy,
    goesOn: [rest, ...Object.values(own)].some(({ goesOn }) => goesOn),
    decide: (failure, context) => (context.of === 'session' ? rest : of(failure)).decide(failure, context),
    ...(local !== undefined && { local }),
  };
}
