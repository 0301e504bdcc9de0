/** The part that `network.ts` loads at the first use of sockets. */

export { connectWs } from './ws-channel.js';
export { listenWs } from './ws-listener.js';
