/**
 * Patience: the environment variable STCI_TEST_PATIENCE, a number from 1 to 100, multiplies the deadlines of tests. A
 * deadline tells a test that hangs from one that goes on; how long the latter takes depends on the machine. CI sets it,
 * and else the test runner, by how many files share a core.
 */

export const PATIENCE_VARIABLE = 'STCI_TEST_PATIENCE';
export const PATIENCE_MAX = 100;

let factor: number | undefined;

/** `ms`, a deadline on a machine at rest, multiplied for this one. */
export function patient(ms: number): number {
  factor ??= patienceOf(process.env[PATIENCE_VARIABLE]);
  return ms * factor;
}

/** The factor that `text` says, default 1. Throws an Error that names the variable for what is not a factor. */
export function patienceOf(text: string | undefined): number {
  const said = text === undefined || text === '' ? 1 : Number(text);
  if (said >= 1 && said <= PATIENCE_MAX) return said;
  throw new Error(`${PATIENCE_VARIABLE} is ${JSON.stringify(text)}, not a number from 1 to ${PATIENCE_MAX}`);
}
