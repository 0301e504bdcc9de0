/**
 * The floor of the bench `client`: as many processes as a job of stcirun has, with nothing between them but sockets. A
 * program sends its part to its relay, the relay passes on what came in one turn to the hub, and the hub sends all
 * parts back, once it has one of each program. Started without a role it is the hub, and starts the others.
 */

import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const HEAD_BYTES = 4;

/** Calls `onPart` for each whole part: a length, then as many bytes. */
function reader(onPart) {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + rest.readUInt32BE(0);
      if (rest.length < end) return;
      onPart(rest.subarray(HEAD_BYTES, end));
      rest = rest.subarray(end);
    }
  };
}

function framed(bytes) {
  const frame = Buffer.alloc(HEAD_BYTES + bytes.length);
  frame.writeUInt32BE(bytes.length, 0);
  bytes.copy(frame, HEAD_BYTES);
  return frame;
}

function start(...args) {
  return spawn(process.execPath, [process.argv[1], ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
}

function hub(path, hosts, ranks, times) {
  let parts = [];
  const relays = new Set();
  const server = createServer((socket) => {
    relays.add(socket);
    socket.on('close', () => relays.delete(socket) && relays.size === 0 && server.close());
    socket.on('data', reader((part) => {
      parts.push(part);
      if (parts.length < ranks) return;
      const all = framed(Buffer.concat(parts));
      parts = [];
      for (const relay of relays) relay.write(all);
    }));
  });
  server.listen(path, () => {
    for (let host = 0; host < hosts; host++) start('relay', path, `${path}.${host}`, String(ranks / hosts), times);
  });
}

function relay(path, own, ranks, times) {
  const up = connect(path);
  const programs = new Set();
  const turn = [];
  const server = createServer((socket) => {
    programs.add(socket);
    socket.on('close', () => programs.delete(socket) && programs.size === 0 && (server.close(), up.end()));
    socket.on('data', reader((part) => {
      turn.push(framed(part));
      if (turn.length === 1) setImmediate(() => up.write(Buffer.concat(turn.splice(0))));
    }));
  });
  up.on('data', reader((all) => {
    const frame = framed(all);
    for (const socket of programs) socket.write(frame);
  }));
  server.listen(own, () => {
    for (let i = 0; i < ranks; i++) start('program', own, times, String(own.endsWith('.0') && i === 0));
  });
}

function program(path, times, writes) {
  const socket = connect(path);
  let told;
  socket.on('data', reader(() => told()));
  const call = (part) => new Promise((resolve) => {
    told = resolve;
    socket.write(framed(part));
  });
  const each = async (part) => {
    for (let i = 0; i < 3; i++) await call(part);
    const sinceMs = performance.now();
    for (let i = 0; i < times; i++) await call(part);
    return (performance.now() - sinceMs) / times;
  };
  socket.on('connect', async () => {
    const barrierMs = await each(Buffer.alloc(0));
    const gatherMs = await each(Buffer.alloc(8));
    if (writes) console.log(JSON.stringify({ barrierMs, gatherMs }));
    socket.end();
  });
}

const [role, ...rest] = process.argv.slice(2);
if (role === 'relay') relay(rest[0], rest[1], Number(rest[2]), rest[3]);
else if (role === 'program') program(rest[0], Number(rest[1]), rest[2] === 'true');
else hub(role, Number(rest[0]), Number(rest[1]), rest[2]);
