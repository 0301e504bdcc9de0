/** Errors of plugins: each names the plugin. */

import { StciError, type ErrorCode } from '@stci/interface';

type PluginCode = Extract<ErrorCode, `STCI_PLUGIN_${string}`>;

export function pluginError(path: string, text: string, code: PluginCode = 'STCI_PLUGIN_INVALID'): StciError {
  return new StciError(code, `plugin ${path}: ${text}.`.replace(/\.\.$/u, '.'), { data: { plugin: path } });
}

/** Frame of a copy: its hash, a file of it, a line there. */
const FRAME = /\/plugins\/[0-9a-f]{16}\/([0-9a-f]{64})\/(?:([^\n:]+:\d+))?/u;

/** The copy whose code threw it; undefined: none. */
export function copyOf(thrown: unknown): string | undefined {
  return FRAME.exec(stackOf(thrown))?.[1];
}

/** The text with where in the plugin's own code it was thrown: `boom (index.js:3)`. */
export function placed(text: string, thrown: unknown): string {
  const at = FRAME.exec(stackOf(thrown))?.[2];
  return at === undefined ? text : `${text.replace(/\.$/u, '')} (${at})`;
}

/** What is thrown may be anything, and its stack a getter. */
function stackOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.stack) : '';
  } catch {
    return '';
  }
}
