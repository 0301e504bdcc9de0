/** Errors of plugins: each names the plugin. */

import { StciError, type ErrorCode } from '@stci/interface';

type PluginCode = Extract<ErrorCode, `STCI_PLUGIN_${string}`>;

export function pluginError(path: string, text: string, code: PluginCode = 'STCI_PLUGIN_INVALID'): StciError {
  return new StciError(code, `plugin ${path}: ${text}.`.replace(/\.\.$/u, '.'), { data: { plugin: path } });
}
