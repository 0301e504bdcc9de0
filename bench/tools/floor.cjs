/** The least that an agent does: reads its input, loads crypto and net, starts a program, answers. */
'use strict';
const { createHmac } = require('node:crypto');
const { Socket } = require('node:net');
const { spawn } = require('node:child_process');
const input = new Socket({ fd: 0, readable: true, writable: false });
const output = new Socket({ fd: 1, readable: false, writable: true });
input.once('data', (data) => {
  const proof = createHmac('sha256', 'key').update(data).digest('hex');
  spawn('true', { stdio: 'pipe', detached: true }).on('exit', () => output.end(proof, () => input.destroy()));
});
