/**
 * What programs find in their environment: the caller's variables, without those that speak to the launcher itself,
 * and what `-x` adds for one program. The variables of a rank (`STCI_RANK`, …) are put over all of it at the host.
 */

import { ENVIRONMENT_PREFIX, RANK_VARIABLES } from '@stci/core';
import { StciError } from '@stci/interface';

export type Variables = Readonly<Record<string, string>>;

/**
 * The caller's environment for tools: without `STCI_MCA_*`, which set parameters of this run and must not leak into
 * a stcirun that a tool starts, and without the rank variables of an outer run.
 */
export function toolEnvironment(caller: Variables): Record<string, string> {
  const outer = new Set<string>(RANK_VARIABLES);
  return Object.fromEntries(
    Object.entries(caller).filter(([name]) => !name.startsWith(ENVIRONMENT_PREFIX) && !outer.has(name)),
  );
}

/** `NAME=VALUE`, `NAME` with the caller's value, or a pattern such as `OMP_*`; later ones go over earlier ones. */
export function exportedVariables(exports: readonly string[], caller: Variables): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const text of exports) {
    const equals = text.indexOf('=');
    if (equals === 0) throw new StciError('STCI_USAGE', `-x: expected NAME=VALUE, got '${text}' without a name.`);
    if (equals > 0) variables[text.slice(0, equals)] = text.slice(equals + 1);
    else for (const name of callerNames(text, caller)) variables[name] = caller[name] as string;
  }
  return variables;
}

function callerNames(text: string, caller: Variables): readonly string[] {
  if (!/[*?]/u.test(text)) {
    if (caller[text] !== undefined) return [text];
    throw new StciError('STCI_USAGE', `-x: ${text} is not set here. Set it, or write -x ${text}=VALUE.`);
  }
  const source = text.replaceAll(/[.+^${}()|[\]\\]/gu, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
  const pattern = new RegExp(`^${source}$`, 'su');
  const names = Object.keys(caller).filter((name) => pattern.test(name));
  if (names.length === 0) throw new StciError('STCI_USAGE', `-x: no variable here matches '${text}'.`);
  return names;
}
