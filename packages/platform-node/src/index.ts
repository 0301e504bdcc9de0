/** Platform on Node: the only package that uses `node:*`. */

export { createNodePlatform } from './platform.js';
export type { NodePlatform, NodePlatformOptions } from './platform.js';
export { openAgentChannel } from './processes/agent-thread.js';
export { reuse } from './channels/read-buffers.js';
export { drainStdin, openStdioChannel, releaseStdio } from './channels/stdio-channel.js';
export { streamChannel } from './channels/stream-channel.js';
export type { StreamChannelOptions } from './channels/stream-channel.js';
export type { ShippedBundle } from './shipped-bundle.js';
export { MARK_TAG, TAG_SHIFT, ownLimit } from './processes/process-mark.js';
export { START_SCRIPT } from './processes/start-script.js';
export { runtimeDirectory, spareDirectories, usualDirectory } from './files/private-directory.js';
export {
  distrusted, holdDirectory, makeTemporary, openOwn, openReal, privateDirectory, publicity, readOwn, resolveDirectory,
  sharedFile, UntrustedPath, writeOwn,
} from './files/trusted-path.js';
export type { HeldDirectory } from './files/trusted-path.js';
export { checkProgram } from './system/program.js';
export { builtin } from './system/builtin.js';
export { lineSplitter } from './channels/lines.js';
