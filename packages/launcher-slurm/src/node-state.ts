/**
 * The states that sinfo (%T) tells of a node, judged for a job that has it: whether a step starts there. Letters behind
 * a state are marks (sinfo(1), NODE STATE CODES): `*` is a node that does not respond; the others, such as `$` of a
 * reservation for maintenance and `@` of a reboot to come, say nothing of the steps of a job that runs there.
 */

/** `drains`: its job keeps it, others do not get it. */
export type NodeVerdict = 'works' | 'drains' | 'silent' | 'dead';

/** States in which no step starts. `drained` is a node that no job has any more. */
const DEAD =
  /^(?:down|drained|error|fail|future|inval|no_respond|not_responding|perfctrs|power.*|reboot.*|unk|unknown)$/i;

export function nodeVerdict(state: string): NodeVerdict {
  const base = state.replace(/[*~#!%$@^+-]+$/, '');
  if (DEAD.test(base)) return 'dead';
  if (state.slice(base.length).includes('*')) return 'silent';
  return /^(?:drain|failing)/i.test(base) ? 'drains' : 'works';
}
