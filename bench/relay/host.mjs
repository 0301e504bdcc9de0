/**
 * One host of the relay: starts two tools, sends their output over one WebSocket, in chunks as read, and stops reading
 * while the send queue is long. Arguments: port, bytes of each tool, the tools' ranks.
 */

import { spawn } from 'node:child_process';
import { requireWs, script } from '../lib/place.mjs';

const BUFFERED_BYTES_MAX = 1024 * 1024;

const [port, bytes, ...ranks] = process.argv.slice(2);
const { WebSocket } = requireWs();
const socket = new WebSocket(`ws://127.0.0.1:${port}`, {
  perMessageDeflate: false,
  generateMask: (mask) => void mask.fill(0),
});
let open = ranks.length;

socket.on('open', () => ranks.forEach(start));

function start(rank) {
  const args = [script('tools/lines.cjs'), bytes, rank];
  const { stdout } = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  stdout.on('data', (chunk) => {
    socket.send(chunk, () => {
      if (stdout.isPaused() && socket.bufferedAmount < BUFFERED_BYTES_MAX / 2) stdout.resume();
    });
    if (socket.bufferedAmount > BUFFERED_BYTES_MAX) stdout.pause();
  });
  stdout.on('end', () => {
    open -= 1;
    if (open === 0) socket.close();
  });
}
