/**
 * Plugins: packages outside of STCI whose components are added to its own. What a plugin has is declared in field
 * `stci` of its package.json, which is read without running its code. Its modules are loaded when one of its components
 * is asked (`query`) or made (`create`), from a copy named by its hash, which is the same on every host.
 */

import type { ParamSpecs } from './params.js';

/**
 * Version of what plugins are written against: the contracts of this package, and what `@stci/core/component` exports.
 * The second number grows with additions, the first when a plugin may have to be changed.
 */
export const PLUGIN_API = '1.0.0';

/** Field `stci` of a plugin's package.json. */
export interface PluginManifest {
  /** Versions of PLUGIN_API that it works with, as a range: `^1`, `^1.2`, `>=1.1 <3`. */
  readonly api: string;
  /** At least one. */
  readonly components: readonly PluginComponent[];
}

/** What is known of a component without running its code; the code is compared with it when it is loaded. */
export interface PluginComponent {
  readonly framework: string;
  /** a-z and 0-9, a letter first; no other component of the framework has it. */
  readonly name: string;
  /** Path in the package of the module that exports the component's record: `./dist/torus.js`. */
  readonly module: string;
  /** One sentence. */
  readonly help: string;
  /** As the record has them: the schema of its parameters. Default: none. */
  readonly params?: ParamSpecs;
  /** As the record has them. Default: none. */
  readonly args?: ParamSpecs;
}

/** Most bytes of all files of a plugin together, and most files; its dependencies count. */
export const PLUGIN_BYTES_MAX = 16 * 1024 * 1024;
export const PLUGIN_FILES_MAX = 2000;
