/**
 * Two ranks that take turns (`ping-pong`, over a socket of their own) or compute each for itself (`compute`), a fixed
 * amount. Rank 0 prints `took MS`; both do where both compute. Arguments: what, amount, path of the socket.
 */
'use strict';
const { createServer, connect } = require('node:net');

const [, , what, amountText, path] = process.argv;
const amount = Number(amountText);
const rank = Number(process.env.STCI_RANK);
const WARM_UP = 2000;

const took = (since) => console.log(`took ${Number(process.hrtime.bigint() - since) / 1e6}`);

function compute() {
  const since = process.hrtime.bigint();
  let x = rank;
  for (let i = 0; i < amount; i++) x = (Math.imul(x, 1_103_515_245) + 12_345) | 0;
  if (x === 0.5) console.log(x); // Never: but x is used.
  took(since);
}

function serve() {
  const server = createServer((socket) => {
    let [left, since] = [amount + WARM_UP, 0n];
    socket.on('data', () => {
      if (left === amount) since = process.hrtime.bigint();
      if (left-- > 0) return socket.write('x');
      took(since);
      socket.end();
      server.close();
    });
    socket.write('x');
  });
  server.listen(path);
}

function answer() {
  const socket = connect(path);
  socket.on('data', () => socket.write('x'));
  socket.on('error', () => setTimeout(answer, 5)); // The other rank does not listen yet.
}

if (what === 'compute') compute();
else if (rank === 0) serve();
else answer();
