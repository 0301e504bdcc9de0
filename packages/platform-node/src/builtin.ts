/**
 * The lean door to Node's own modules. A static `import` of node:net or node:child_process is paid at every start of
 * an agent, used or not, and a bundler keeps it that way; `builtin('node:net')` is paid at the first call.
 * Everything in this package that is not needed by every agent goes through it (types come by `import type`).
 */

// Costs nothing: Node itself has loaded it.
import { createRequire } from 'node:module';

type Builtin = typeof process.getBuiltinModule;

/** What a process of Node 20.0 to 20.15 lacks. */
type Host = Partial<Pick<typeof process, 'getBuiltinModule'>>;

/** Where Node has no call for it, `require` from any place: modules of Node are found from all alike. */
export function builtinOf(host: Host): Builtin {
  return host.getBuiltinModule ?? (createRequire(process.execPath) as Builtin);
}

export const builtin: Builtin = builtinOf(process);
