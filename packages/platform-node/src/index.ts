/** Platform on Node: the only package that uses `node:*`. */

export { createNodePlatform } from './platform.js';
export type { NodePlatform, NodePlatformOptions } from './platform.js';
export type { PrestartedAgent } from './agent-process.js';
export { openAgentChannel } from './agent-thread.js';
export { drainStdin, openStdioChannel, releaseStdio } from './stdio-channel.js';
export { streamChannel } from './stream-channel.js';
export type { StreamChannelOptions } from './stream-channel.js';
export type { ShippedBundle } from './shipped-bundle.js';
export { MARK_TAG, TAG_SHIFT } from './process-mark.js';
export { START_SCRIPT } from './start-script.js';
export { runtimeDirectory, spareDirectories, usualDirectory } from './private-directory.js';
export {
  distrusted, holdDirectory, makeTemporary, openOwn, openReal, privateDirectory, publicity, readOwn, resolveDirectory,
  UntrustedPath, writeOwn,
} from './trusted-path.js';
export type { HeldDirectory } from './trusted-path.js';
export { checkProgram } from './program.js';
export { builtin } from './builtin.js';
export { lineSplitter } from './lines.js';
