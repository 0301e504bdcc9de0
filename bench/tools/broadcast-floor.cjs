/**
 * A member of the least broadcast that there can be: raw unix sockets along a graph, one byte a message, nothing
 * checked. Arguments: own position, positions in all, directory of the sockets, `tree` or `bmg`. Reads a line with a
 * number at the source and prints, at each member, the number and the monotonic time in ns at which it came.
 */
'use strict';

const net = require('node:net');

const [self, size, directory, kind] = [Number(process.argv[2]), Number(process.argv[3]), ...process.argv.slice(4)];
const links = new Map();
let seen = 0;

/** Positions at ± 2^k. */
function neighbours(position) {
  const found = new Set();
  for (let step = 1; step < size; step *= 2) {
    found.add((position + step) % size).add((position - step + size) % size);
  }
  found.delete(position);
  return [...found];
}

/** Of the binomial tree rooted at 0: position + 2^k for 2^k greater than the position. */
function children(position) {
  const below = [];
  for (let step = 1; position + step < size; step *= 2) if (step > position) below.push(position + step);
  return below;
}

const isUsed = (a, b) => kind === 'bmg' || children(Math.min(a, b)).includes(Math.max(a, b));

function take(round) {
  if (round <= seen) return;
  seen = round;
  const atNs = process.hrtime.bigint();
  const below = children(self);
  const others = kind === 'bmg' ? neighbours(self).filter((to) => !below.includes(to)) : [];
  for (const to of [...below, ...others]) links.get(to)?.write(Uint8Array.of(round));
  process.stdout.write(`${round} ${atNs}\n`);
}

function join(to, socket) {
  links.set(to, socket);
  socket.on('data', (data) => data.forEach(take));
  socket.on('error', () => undefined);
  if (links.size === neighbours(self).filter((other) => isUsed(self, other)).length) process.stdout.write('up\n');
}

net.createServer((socket) => {
  socket.once('data', (data) => join(data[0], socket));
}).listen(`${directory}/${self}`, () => process.stdout.write('listens\n'));

process.stdin.on('data', (text) => {
  const line = String(text).trim();
  if (line !== 'connect') return take(Number(line));
  for (const to of neighbours(self).filter((other) => other < self && isUsed(self, other))) {
    const socket = net.connect(`${directory}/${to}`, () => {
      socket.write(Uint8Array.of(self));
      join(to, socket);
    });
  }
});
process.stdin.on('end', () => process.exit(0));
