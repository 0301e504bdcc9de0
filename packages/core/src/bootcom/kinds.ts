/**
 * Kinds of links, the components of framework `bootcom`. `stdio` and `memory` are native: their channel came with the
 * start of the child. `ws` connects to a listener over the platform's sockets.
 */

import { accept, builtinComponent, decline, type AnyComponent } from '@stci/interface';
import { bootcomFramework } from './framework.js';

function native(kind: string, help: string): AnyComponent {
  return builtinComponent({
    framework: bootcomFramework,
    name: kind,
    help,
    query: () => accept(50),
    create: () => ({ kind, needsListener: false }),
  });
}

const bootcomStdio = native('stdio', "A child's own pipes, or the channel of a remote login: no listener.");

const bootcomMemory = native('memory', 'Agents in one process.');

const bootcomWs = builtinComponent({
  framework: bootcomFramework,
  name: 'ws',
  help: 'WebSocket connections to a listener of the parent, on loopback or the interfaces that are named; encrypted '
    + 'by TLS with a key of the session (bootcom.ws.encrypt).',
  query: ({ facts }) => (facts['sockets'] === false ? decline('this platform has no sockets') : accept(40)),
  create: ({ platform }) => ({
    kind: 'ws',
    needsListener: true,
    listen: (options, onChannel, done) => platform.network.listen(options, onChannel, done),
    connect: (address, deadlineMs, key) => platform.network.connect(address, deadlineMs, key),
  }),
});

export const bootcomComponents: readonly AnyComponent[] = [bootcomStdio, bootcomMemory, bootcomWs];
