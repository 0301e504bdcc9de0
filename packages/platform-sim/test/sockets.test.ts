/** How tools talk with an agent of their host: by a socket that they inherit, and by its port of loopback. */

import type { Channel, Platform, Process } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { createWorld, textBytes, type Tool, type World } from '@stci/platform-sim';

const FIXED_MS = 1000;

interface End {
  channel: Channel | undefined;
  heard: string;
  closed: string | undefined;
}

function bound(channel: Channel | undefined): End {
  const end: End = { channel, heard: '', closed: undefined };
  channel?.bind({
    onData: (chunk) => (end.heard += Buffer.from(chunk).toString('latin1')),
    onDrain: () => undefined,
    onClose: (reason) => (end.closed = reason),
  });
  return end;
}

function spawn(platform: Platform, hasSocket: boolean, args: readonly string[] = []): Process {
  const spec = {
    program: 'peer', args, env: { PATH: '/bin' }, stdin: 'null', stdout: 'null', stderr: 'null', lifetime: 'plain',
    hasSocket,
  } as const;
  const nothing = (): void => undefined;
  return platform.processes.spawn(spec, {
    onError: nothing, onOutput: nothing, onOutputEnd: nothing, onStdinDrain: nothing, onStdinClosed: nothing,
    onExit: nothing,
  });
}

/** Both ends of what joins an agent and a tool of the same host. */
function joined(world: World, platform: Platform, by: 'socket' | 'port'): { near: End; far: End; process: Process } {
  let far: End | undefined;
  world.host('h1').files.addProgram('peer', (tool: Tool) => {
    far = bound(by === 'socket' ? tool.socket : tool.connectLoopback(Number(tool.args[0])));
  });
  if (by === 'socket') {
    const process = spawn(platform, true);
    const near = bound(process.socket);
    world.run({ until: () => far !== undefined });
    return { near, far: far as End, process };
  }
  let near: End | undefined;
  let process: Process | undefined;
  const options = { pendingMax: 1, selectEviction: () => undefined };
  platform.network.listenLoopback(options, (channel) => (near = bound(channel)), (_error, listener) => {
    process = spawn(platform, false, [String(listener?.port)]);
  });
  world.run({ until: () => near !== undefined });
  return { near: near as unknown as End, far: far as unknown as End, process: process as unknown as Process };
}

suite('sockets of simulated tools', (test) => {
  for (const by of ['socket', 'port'] as const) {
    const fixture = (): ReturnType<typeof joined> & { world: World; agent: number } => {
      const world = createWorld({ seed: 1 });
      const platform = world.platform('h1');
      return { world, agent: platform.env.pid, ...joined(world, platform, by) };
    };
    const wait = (world: World): unknown => world.run({ untilMs: world.nowMs + FIXED_MS });

    test(`${by}: what either says arrives`, () => {
      const { world, near, far } = fixture();
      near.channel?.send([textBytes('to the tool')]);
      far.channel?.send([textBytes('to the agent')]);
      wait(world);
      assert.equal([near.heard, far.heard], ['to the agent', 'to the tool']);
    });

    test(`${by}: the end of the tool closes it, and what it has said arrives before`, () => {
      const { world, near, far, process } = fixture();
      far.channel?.send([textBytes('last')]);
      process.signal('SIGKILL', 'process');
      wait(world);
      assert.equal([near.heard, near.closed], ['last', 'end of file']);
    });

    test(`${by}: the death of the agent closes it`, () => {
      const { world, agent, far } = fixture();
      world.killProcess('h1', agent);
      wait(world);
      assert.is(far.closed, 'end of file');
    });

    test(`${by}: a tool that is stopped hears nothing before it goes on`, () => {
      const { world, near, far, process } = fixture();
      process.signal('SIGSTOP', 'process');
      wait(world);
      near.channel?.send([textBytes('late')]);
      wait(world);
      assert.is(far.heard, '');
      process.signal('SIGCONT', 'process');
      wait(world);
      assert.is(far.heard, 'late');
    });

    test(`${by}: a host that has crashed says nothing`, () => {
      const { world, near, far } = fixture();
      world.crashHost('h1');
      wait(world);
      assert.equal([near.closed, far.closed], [undefined, undefined]);
    });
  }

  test('a tool without a socket has none, and a port where nobody listens refuses', () => {
    const world = createWorld({ seed: 2 });
    const platform = world.platform('h1');
    let far: End | undefined;
    let socket: Channel | undefined;
    world.host('h1').files.addProgram('peer', (tool: Tool) => {
      socket = tool.socket;
      far = bound(tool.connectLoopback(9));
    });
    assert.is(spawn(platform, false).socket, undefined);
    world.run({ until: () => far?.closed !== undefined });
    assert.equal([socket, far?.closed], [undefined, 'connection refused']);
  });
});
