/** A process that inherits a socket: both ends talk, and each learns that the other is gone. */

import { createNodePlatform } from '@stci/platform-node';
import { RANK_SOCKET_FD, type ChannelEvents, type Process, type SpawnSpec } from '@stci/interface';
import { assert, eventually, suite } from '@stci/testkit';

interface Heard {
  text: string;
  closed: string | undefined;
  exit: number | undefined;
}

function spawn(script: string, more: Partial<SpawnSpec> = {}): { process: Process; heard: Heard } {
  const { processes } = createNodePlatform();
  const heard: Heard = { text: '', closed: undefined, exit: undefined };
  const process = processes.spawn({
    program: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, stdin: 'null', stdout: 'null',
    stderr: 'null', lifetime: 'plain', hasSocket: true, ...more,
  }, {
    onError: ({ message }) => void (heard.text = message), onOutput: () => undefined, onOutputEnd: () => undefined,
    onStdinDrain: () => undefined, onStdinClosed: () => undefined, onExit: ({ status }) => void (heard.exit = status),
  });
  const events: ChannelEvents = {
    onData: (chunk) => void (heard.text += new TextDecoder().decode(chunk)),
    onDrain: () => undefined,
    onClose: (reason) => void (heard.closed = reason),
  };
  process.socket?.bind(events);
  return { process, heard };
}

suite('a process with a socket', (test) => {
  test('it reads and writes at its descriptor; its end is heard', async () => {
    const { process, heard } = spawn(`read -r line <&${RANK_SOCKET_FD}; echo "got $line" >&${RANK_SOCKET_FD}`);
    process.socket?.send([new TextEncoder().encode('hello\n')]);
    await eventually(() => heard.closed !== undefined, { what: 'the end of the socket' });
    assert.equal([heard.text, heard.closed], ['got hello\n', 'end of file']);
    await eventually(() => heard.exit === 0, { what: 'the end of the process' });
  });

  test('it learns that this end was closed', async () => {
    const { process, heard } = spawn(`read -r line <&${RANK_SOCKET_FD}; exit 7`);
    process.socket?.close();
    await eventually(() => heard.exit === 7, { what: 'the end of the process' });
  });

  test('without one there is none, and nothing at its descriptor', async () => {
    const { process, heard } = spawn(`test -e /proc/self/fd/${RANK_SOCKET_FD} && exit 1; exit 0`, { hasSocket: false });
    assert.is(process.socket, undefined);
    await eventually(() => heard.exit === 0, { what: 'the end of the process' });
  });
});
