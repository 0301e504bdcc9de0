/** Signals that the caller has set to be ignored. */

/**
 * What the system says of the shell that bin/stcirun.cjs is at first: one line of /proc/PID/stat. Node gives every
 * signal its default action when it starts, also one that its caller ignores.
 */
const START_STAT = 'STCI_START_STAT';

/** Of the fields behind the program's name: the set of ignored signals, field 33 of proc(5). */
const IGNORED_FIELD = 30;

/** Whether stcirun was started with HUP ignored, as nohup does. Takes the variable away. */
export function takeIgnoresHangup(variables: NodeJS.ProcessEnv = process.env): boolean {
  const stat = variables[START_STAT] ?? '';
  delete variables[START_STAT];
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[IGNORED_FIELD] ?? 0) & 1) === 1;
}
