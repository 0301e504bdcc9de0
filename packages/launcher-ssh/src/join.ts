/**
 * The program that reaches an agent on its host: it connects to the agent's private socket and joins its own standard
 * streams with it, until either ends. Its argument is the socket's path, in the place of the bundle's hash. It checks
 * directory, those above it and socket as platform-node does (trusted-path.ts); it takes paths without links only.
 */

import { hostProgram } from '@stci/host-program';

const JOIN = `
var net = require('net'), file = String(Buffer.from(hash, 'hex')), dir = path.dirname(file), isJoined = false;
function fail(reach, text) {
  say('fail ' + reach + ' ' + text);
  me.exit(1);
}
function isOwn(facts) { return facts.uid === me.getuid(); }
function check() {
  if (file[0] !== '/') fail('refused', file + ' is no absolute path');
  var facts = fs.lstatSync(dir);
  if (Buffer.byteLength(file) > 107) fail('refused', file + ' is longer than 107 bytes');
  if (!facts.isDirectory()) fail('refused', dir + ' is not a directory');
  if (!isOwn(facts)) fail('refused', dir + ' belongs to user ' + facts.uid + ', not to ' + me.getuid());
  if (facts.mode & 63) fail('refused', dir + ' is open to others: chmod 700 ' + dir);
  var root = fs.lstatSync('/').uid;
  for (var at = dir; at !== '/'; at = path.dirname(at)) {
    var parent = path.dirname(at), above = fs.lstatSync(parent), isOpen = above.mode & 18, own = fs.lstatSync(at);
    var isTrusted = isOwn(above) || above.uid === 0 || above.uid === root;
    var isStable = above.isDirectory() && isTrusted && (!isOpen || above.mode & 512);
    if (!isStable || isOpen && !isOwn(own) && own.uid !== 0) fail('refused', 'others may rename what is in ' + parent);
  }
  var socket = fs.lstatSync(file);
  if (!socket.isSocket() || !isOwn(socket)) fail('refused', file + ' is not a socket of user ' + me.getuid());
}
function lost(e) {
  if (isJoined) me.exit(1);
  fail(e.code === 'ENOENT' || e.code === 'ECONNREFUSED' ? 'dead' : 'unreachable', e.message);
}
function join(far) {
  isJoined = true;
  say('join');
  var input = new net.Socket({ fd: 0, readable: true, writable: false });
  var output = new net.Socket({ fd: 1, readable: false, writable: true });
  var timer = setTimeout(function () { me.exit(1); }, waitMs), farEnded = false;
  function leave() { me.exit(0); }
  input.once('data', function () { clearTimeout(timer); });
  input.on('error', leave);
  output.on('error', leave);
  output.on('finish', leave);
  far.on('end', function () { farEnded = true; });
  far.on('finish', function () { if (!farEnded) leave(); });
  far.on('close', function () { output.end(); });
  far.pipe(output);
  input.pipe(far);
}
me.title = 'stci-join';
try { check(); } catch (e) { lost(e); }
var far = net.connect({ path: file });
far.on('error', lost);
far.on('connect', function () { join(far); });
`;

/** Ends with 1 if it could not connect, after an answer `fail dead|refused|unreachable TEXT`; else says `join`. */
export const JOIN_PROGRAM = hostProgram(JOIN);
