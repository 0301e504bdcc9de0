/**
 * The lean door to Node's own modules. A static `import` of node:net or node:child_process is paid at every start of
 * an agent, used or not, and a bundler keeps it that way; `builtin('node:net')` is paid at the first call.
 * Everything in this package that is not needed by every agent goes through it (types come by `import type`).
 */

// getBuiltinModule needs Node 20.16; unlike createRequire it works in an ES module and in a bundled CJS file.
export const builtin: typeof process.getBuiltinModule = process.getBuiltinModule;
