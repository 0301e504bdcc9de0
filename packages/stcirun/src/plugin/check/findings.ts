/** What `stci plugin check` finds in a plugin's package: each with the file that it is in, and what to do. */

import type { CodeDeclaration } from '../manifest.js';

export interface Finding {
  /** A warning does not keep the plugin from being used. */
  readonly level: 'error' | 'warning';
  readonly check: 'manifest' | 'files' | 'names' | 'imports' | 'code' | 'compliance';
  /** Of the package, or the package itself. */
  readonly file: string;
  /** What is wrong, what was expected, what to do: sentences. */
  readonly text: string;
}

/** Word before what it says on standard error of a call that does not return. */
export const CALL_SPEAKER = 'call';

/** What the process that runs the plugin's code tells. */
export type CheckMessage =
  /** What comes next may take `limitMs`. `what`: `topology:ring: create`. */
  | { readonly type: 'step'; readonly what: string; readonly file: string; readonly limitMs: number }
  | { readonly type: 'finding'; readonly finding: Finding }
  /** A test of a suite. */
  | { readonly type: 'passed' }
  /** Of each component of the manifest, what the code declares. */
  | { readonly type: 'declared'; readonly components: readonly CodeDeclaration[] }
  | { readonly type: 'done' };
