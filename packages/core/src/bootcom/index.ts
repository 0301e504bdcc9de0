/** Links, for compliance suites and tests of other packages. */

export { LAYER, encodeHeader, frameBody } from '../codec/frame.js';
export type { Frame } from '../codec/frame.js';
export { agentSecret } from './agent-key.js';
export { encodeBootRecord } from './boot-record.js';
export { adoptionKey, linkKey } from './encryption.js';
export { selectEviction } from './eviction.js';
export { LINK_FRAME, linkFrame } from './handshake.js';
export { ImpairedChannel } from './impairment.js';
export { Link } from './link.js';
export { memoryChannel } from './memory-channel.js';
export { fetchPlugins, servePlugins } from './plugin-transfer.js';
