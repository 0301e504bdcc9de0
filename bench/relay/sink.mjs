/**
 * The floor of the bench `output`, a minimal relay. This process starts the hosts, listens for their WebSockets, writes
 * incoming data to standard output, many chunks per system call, applies back-pressure when it cannot keep up, and ends
 * when all hosts have. Arguments: hosts, bytes of each tool.
 */

import { spawn } from 'node:child_process';
import { writev } from 'node:fs';
import { requireWs, script } from '../lib/place.mjs';

const QUEUE_BYTES_MAX = 8 * 1024 * 1024;

const [hosts, bytes] = process.argv.slice(2).map(Number);
const { WebSocketServer } = requireWs();
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false, skipUTF8Validation: true });
const clients = new Set();
const queue = [];
let queuedBytes = 0;
let writing = false;
let paused = false;
let ended = 0;

server.on('connection', (client) => {
  clients.add(client);
  client.binaryType = 'nodebuffer';
  client.on('message', (chunk) => {
    queue.push(chunk);
    queuedBytes += chunk.length;
    if (queuedBytes > QUEUE_BYTES_MAX && !paused) hold(true);
    write();
  });
  client.on('close', () => {
    ended += 1;
    clients.delete(client);
    finish();
  });
});

server.on('listening', () => {
  const { port } = server.address();
  for (let host = 0; host < hosts; host++) {
    const args = [script('relay/host.mjs'), String(port), String(bytes), String(2 * host), String(2 * host + 1)];
    spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  }
});

function hold(on) {
  paused = on;
  for (const client of clients) on ? client.pause() : client.resume();
}

function write() {
  if (writing || queue.length === 0) return;
  writing = true;
  const chunks = queue.splice(0, 512);
  const chunkBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  writev(1, chunks, null, (error, written) => {
    if (error !== null || written !== chunkBytes) throw error ?? new Error('a short write to a file');
    writing = false;
    queuedBytes -= written;
    if (paused && queuedBytes < QUEUE_BYTES_MAX / 2) hold(false);
    write();
    finish();
  });
}

function finish() {
  if (ended === hosts && !writing && queue.length === 0) process.exit(0);
}
