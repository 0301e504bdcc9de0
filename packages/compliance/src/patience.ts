/**
 * Patience: the environment variable STCI_TEST_PATIENCE, a number from 1 to 100, multiplies the deadlines of tests. A
 * deadline tells a test that hangs from one that goes on; how long the latter takes depends on the machine. CI sets it.
 */

const MAX_PATIENCE = 100;

/** `ms`, a deadline on a machine at rest, multiplied for this one. */
export function patient(ms: number): number {
  return ms * PATIENCE;
}

/** The factor that `text` says, default 1. Throws an Error that names the variable for what is not a factor. */
export function patienceOf(text: string | undefined): number {
  const factor = text === undefined || text === '' ? 1 : Number(text);
  if (factor >= 1 && factor <= MAX_PATIENCE) return factor;
  throw new Error(`STCI_TEST_PATIENCE is ${JSON.stringify(text)}, not a number from 1 to ${MAX_PATIENCE}`);
}

const PATIENCE = patienceOf(process.env['STCI_TEST_PATIENCE']);
