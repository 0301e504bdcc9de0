/**
 * The link between a front-end and a session in another process of the same host: the handshake proves the key that
 * only the session's user can read. It has no lease: the system tells the end of either process, and a front-end may
 * be stopped for as long as its user likes.
 */

import {
  CONTROLLER, type Address, type Channel, type LinkCloseReason, type Params, type Platform,
} from '@stci/interface';
import { SECRET_BYTES, SESSION_BYTES } from '../bootcom/handshake.js';
import { Link } from '../bootcom/link.js';
import type { Scope } from '../event/scope.js';
import { AgentNode } from '../node/node.js';

export interface SessionKey {
  readonly session: Uint8Array;
  readonly secret: Uint8Array;
}

export function makeSessionKey({ secrets }: Pick<Platform, 'secrets'>): SessionKey {
  return { session: secrets.bytes(SESSION_BYTES), secret: secrets.bytes(SECRET_BYTES) };
}

export function encodeSessionKey({ session, secret }: SessionKey): Uint8Array {
  return Uint8Array.from([...session, ...secret]);
}

/** undefined if these are not the bytes of a key. */
export function decodeSessionKey(bytes: Uint8Array): SessionKey | undefined {
  if (bytes.length !== SESSION_BYTES + SECRET_BYTES) return undefined;
  return { session: bytes.slice(0, SESSION_BYTES), secret: bytes.slice(SESSION_BYTES) };
}

export interface SessionNodeInit {
  readonly platform: Platform;
  readonly params: Params;
  readonly key: SessionKey;
  readonly self: Address;
  /** Ends with it. */
  readonly holds?: Scope;
}

/** Of one connection alone: a front-end reaches the session's other agents only by what the session does for it. */
export function sessionNode({ platform, params, key, self, holds }: SessionNodeInit): AgentNode {
  const node = new AgentNode({
    platform,
    params,
    ...(holds && { holds }),
    identity: { self, job: 0, ...key },
  });
  node.messages.guard = { admits: () => true, onMalformed: (_source, _job, from, { message }) => from.close(message) };
  return node;
}

export interface SessionLinkInit {
  readonly node: AgentNode;
  readonly channel: Channel;
  readonly role: 'connect' | 'accept';
  admit(peer: Address): string | undefined;
  onClosed(text: string, reason: LinkCloseReason): void;
}

export function sessionLink({ node, channel, role, admit, onClosed }: SessionLinkInit): Link {
  const { self, session, secret } = node.identity;
  const { platform, params } = node;
  const { leaseMs: _none, ...limits } = node.linkLimits(params.int('bootcom.handshake'), channel);
  const handshake = { role, self, session, secret, secrets: platform.secrets, admit } as const;
  const link = new Link(
    { role: role === 'connect' ? 'parent' : 'child', channel, clock: platform.clock, handshake, limits },
    node.linkEvents({
      onClosed: (closed, reason, text) => afterMessages(node, closed, () => onClosed(text, reason)),
    }),
  );
  // Sent frames wait for the handshake.
  if (role === 'connect') node.router.addEarlyLink(CONTROLLER, link);
  return link;
}

/** Calls `done` behind the messages that came over a link: a last acknowledgement, or a job's end. */
function afterMessages(node: AgentNode, link: Link, done: () => void): void {
  // The dispatch queue serves senders in turn, this agent being one of them.
  const again = (): void => (node.messages.received.waiting(link) > 0 ? afterMessages(node, link, done) : done());
  node.messages.request(node.identity.self, 'agent.echo', {}, again);
}
