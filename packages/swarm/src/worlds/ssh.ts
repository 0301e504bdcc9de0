/**
 * `ssh HOST LINE` and the login shell behind it, simulated: the component launcher-ssh is the real one, and so are its
 * answers; the hosts' part of a start (find a node, ask for the bundle, check its length, keep it) is simulated here.
 */

import { DeferredChannel, assert, type Channel, type ErrorRecord } from '@stci/interface';
import { textBytes, type AgentContext, type AgentMain, type World } from '@stci/platform-sim';
import { joinSocket, relayLogin } from './launcher-remote.js';

/** What command.ts of launcher-ssh writes: the words behind the shell's text; last how long the host waits, ms. */
const WORDS = / 'base64' '([0-9a-f]+)' '([0-9a-f]+)' '(\d+)' .*'(\d+)'$/;

/** Puts both programs on every host of `world`. Each host keeps the bundles that it was sent. */
export function installSsh(world: World, agentMain: AgentMain): void {
  const kept = new Set<string>();
  world.program('ssh', (context) => {
    const at = context.args.indexOf('--');
    const seconds = context.args.find((word) => word.startsWith('ConnectTimeout='))?.split('=')[1];
    const command = ['login-shell', context.args.at(-1) ?? ''];
    relayLogin(context, context.args[at + 1] ?? '', command, { connectMs: Number(seconds) * 1000 });
  });
  world.program('login-shell', (context) => loginShell(context, kept, agentMain));
}

function loginShell(context: AgentContext, kept: Set<string>, agentMain: AgentMain): void {
  const { channel, platform } = context;
  const [, nonce = '', hash = '', size = '', waitMs = ''] = WORDS.exec(context.args[0] ?? '') ?? [];
  assert(nonce !== '', 'the line for the login shell is as launcher-ssh writes it');
  const key = `${platform.env.hostname} ${hash}`;
  const say = (word: string): void => void channel.send([textBytes(`STCI ${nonce} ${word}\n`)]);
  say('shell');
  // A program other than the agent has no bundle: that which reaches an agent, whose argument is a path.
  if (size === '0') return joinSocket(context, fromHex(hash), (error) => say(joinAnswer(error)));
  const agentChannel = new DeferredChannel({ kind: 'stdio', label: 'sshd', soon: platform.clock.soon, inner: channel });
  const open = (first: Uint8Array): void => {
    kept.add(key);
    agentChannel.open(first);
    agentMain({ ...context, channel: agentChannel });
  };
  const missing = kept.has(key) ? 0 : Number(size);
  say(missing === 0 ? 'have' : 'need');
  const leave = (): void => context.exit(1);
  const timer = missing === 0 ? undefined : platform.clock.after(Number(waitMs), leave);
  receive(channel, agentChannel, missing, (first) => {
    timer?.cancel();
    say('run');
    open(first);
  }, leave);
  if (missing === 0) open(new Uint8Array());
}

function joinAnswer(error: ErrorRecord | undefined): string {
  return error === undefined ? 'join' : `fail ${String(error.data?.['reach'])} ${error.message}`;
}

function fromHex(word: string): string {
  return word.replaceAll(/../g, (digits) => String.fromCharCode(parseInt(digits, 16)));
}

/** Takes `missing` bytes off the channel, then passes everything on. */
function receive(
  channel: Channel,
  agentChannel: DeferredChannel,
  missing: number,
  done: (first: Uint8Array) => void,
  cut: () => void,
): void {
  let left = missing;
  channel.bind({
    onData: (chunk) => {
      if (left === 0) return agentChannel.onData(chunk);
      const taken = Math.min(left, chunk.length);
      left -= taken;
      if (left === 0) done(chunk.subarray(taken));
    },
    onDrain: () => agentChannel.onDrain(),
    onClose: (reason) => (left > 0 ? cut() : agentChannel.end(reason)),
  });
}
