/**
 * Forwarding of a small message by an agent: the message layer reads the header, finds the link, decrements the ttl and
 * sends the same bytes. Compared with decoding the body and encoding it again. The forwarded body is no valid CBOR, so
 * a forwarder that decoded it would fail.
 */

import { built } from './lib/place.mjs';
import { print } from './lib/print.mjs';
import { interleave, ratio, scaled, spread } from './lib/stats.mjs';

const ROUNDS = scaled(15);
const MESSAGES = 300_000;
const TTL = 64;
/** Offset of the ttl in the header. */
const TTL_AT = 5;
/** An invalid first byte of CBOR ("reserved" additional information of major type 0). */
const NO_CBOR = 0x1c;

/** An agent's report of the end of a rank. */
const RANK = { rank: 1, pid: 12345, outcome: 'exited', end: { status: 0 }, endWallMs: 1.7e12, leftovers: 0 };
const BODY = { host: 1, ranks: [RANK] };

export async function bench() {
  const parts = await load();
  const forward = forwarder(parts);
  const recode = recoder(parts);
  forward();
  recode();
  const [floor, own] = await interleave(ROUNDS, [() => recode(), () => forward()]);
  const perSecond = own.map((ns) => 1000 / ns);
  print(`  forwarded: ${spread(own, 'ns', 0)} each, ${spread(perSecond, 'million/s')}; ${ROUNDS} runs of ${MESSAGES}`);
  print(`  decode and encode of such a message: ${spread(floor, 'ns', 0)} each`);
  print(`  decode and encode cost ${ratio(floor, own).toFixed(0)} times as much as forwarding, which does neither`);
}

async function load() {
  const [
    { MessageLayer }, { Router }, frame, cbor, { EventDispatcher }, { Scope }, { rootAddress },
  ] = await Promise.all([
    built('core', 'am/message-layer.js'),
    built('core', 'am/router.js'),
    built('core', 'codec/frame.js'),
    built('core', 'codec/cbor.js'),
    built('core', 'event/dispatcher.js'),
    built('core', 'event/scope.js'),
    built('interface', 'index.js'),
  ]);
  return { MessageLayer, Router, frame, cbor, EventDispatcher, Scope, rootAddress };
}

function makeFrame({ frame, rootAddress }, body) {
  const header = {
    layer: frame.LAYER.message, type: 11, flags: 0, ttl: TTL, stream: 0,
    source: 0, destination: rootAddress(2), job: 1, sequence: 1,
  };
  return Buffer.concat([frame.encodeHeader(header, body.length), body]);
}

/** An agent in the middle: frames come over its parent's link and leave over the link to another agent. */
function forwarder(parts) {
  const { MessageLayer, Router, EventDispatcher, Scope, rootAddress, frame, cbor } = parts;
  const bytes = cbor.encode(BODY).length;
  const message = makeFrame(parts, Buffer.alloc(bytes, NO_CBOR));
  const clock = { nowMs: () => 0, wallMs: () => 0, after: () => ({ cancel: () => {} }), soon: () => {} };
  const fail = (fault) => {
    throw fault;
  };
  const router = new Router(rootAddress(0));
  let sent = 0;
  const parent = { role: 'parent', job: 0, peer: 0, send: () => fail(new Error('sent back')) };
  router.addLink(parent);
  const send = (pieces) => (sent += pieces[0] === message ? 1 : NaN) > 0;
  router.addLink({ role: 'child', job: 0, peer: rootAddress(2), send });
  const onFault = (_domain, _event, fault) => fail(fault);
  const dispatcher = new EventDispatcher({ clock, progressModel: 'implicit', turnMax: 1, queueMax: 16, onFault });
  const layer = new MessageLayer({
    router,
    holds: new Scope('agent'),
    clock,
    limits: { ttl: TTL, messageBytesMax: 1 << 20, requestTimeoutMs: 1000, windowBytes: 1 << 20 },
    domain: dispatcher.domain('message'),
    onGone: () => undefined,
    onStreamFrame: () => fail(new Error('not a stream')),
    onFault: fail,
  });
  assertOpaque(cbor, frame.frameBody(message));
  return () => {
    sent = 0;
    const sinceMs = performance.now();
    for (let i = 0; i < MESSAGES; i++) {
      message[TTL_AT] = TTL;
      layer.onFrame(parent, message);
    }
    const ns = ((performance.now() - sinceMs) * 1e6) / MESSAGES;
    if (sent !== MESSAGES) throw new Error(`${sent} of ${MESSAGES} messages were forwarded as they came`);
    return ns;
  };
}

function recoder(parts) {
  const { cbor, frame } = parts;
  const message = makeFrame(parts, cbor.encode(BODY));
  return () => {
    let bytes = 0;
    const sinceMs = performance.now();
    for (let i = 0; i < MESSAGES; i++) {
      const header = frame.decodeHeader(message);
      const body = cbor.encode(cbor.decode(frame.frameBody(message)));
      bytes += frame.encodeHeader(header, body.length).length + body.length;
    }
    const ns = ((performance.now() - sinceMs) * 1e6) / MESSAGES;
    if (bytes !== message.length * MESSAGES) throw new Error('the message changed on its way');
    return ns;
  };
}

function assertOpaque(cbor, body) {
  try {
    cbor.decode(body);
  } catch {
    return;
  }
  throw new Error('the forwarded body can be decoded: the bench would show nothing');
}
