/**
 * Lazy access to Node's modules. A static `import` of node:net or node:child_process costs time at every start of an
 * agent, used or not, also in a bundle; `builtin('node:net')` costs it at the first call. Everything in this package
 * that not every agent needs uses it (types are imported with `import type`).
 */

// No cost: Node itself has loaded it.
import { createRequire } from 'node:module';

type Builtin = typeof process.getBuiltinModule;

/** Node 20.0 to 20.15 lacks this function. */
type Host = Partial<Pick<typeof process, 'getBuiltinModule'>>;

/** Without that function: `require` from any path, as Node's own modules do not depend on it. */
export function builtinOf(host: Host): Builtin {
  return host.getBuiltinModule ?? (createRequire(process.execPath) as Builtin);
}

export const builtin: Builtin = builtinOf(process);
