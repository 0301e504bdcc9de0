/** The job of a simulated run: its specification and its standard input. */

import type { Allocation, AppSpec, HostSpec, JobSpec } from '@stci/interface';
import { textBytes } from '@stci/platform-sim';
import type { SwarmOptions } from './options.js';

export function hostName(index: number): string {
  return `n${index}`;
}

/** The standard input of the job: lines, so that a program that reads one finds one. */
export function stdinBytes(options: Pick<SwarmOptions, 'stdinBytes'>): Uint8Array {
  let text = '';
  for (let line = 0; text.length < options.stdinBytes; line++) text += `input line ${line} of the job\n`;
  return textBytes(text.slice(0, options.stdinBytes));
}

/** Two more hosts, for those that do not come up. */
function spareHosts({ hosts, slots }: SwarmOptions): HostSpec[] {
  const names = [hostName(hosts), hostName(hosts + 1)];
  return names.map((name): HostSpec => ({ name, slots, slotsBound: false, origin: 'swarm' }));
}

export function allocation(options: SwarmOptions): Allocation {
  const hosts = Array.from({ length: options.hosts }, (_, index): HostSpec => {
    return { name: hostName(index), slots: options.slots, slotsBound: false, origin: 'swarm' };
  });
  const { 'errmgr.launch': launch, 'errmgr.loss': loss } = options.settings;
  return { hosts, spares: launch === 'spare' || loss === 'use-spare' ? spareHosts(options) : [] };
}

export function jobSpec(options: SwarmOptions): JobSpec {
  const apps = options.apps.map(({ program, args, count, wdir }): AppSpec => {
    return { program, args, count, env: {}, ...(wdir !== undefined && { wdir }) };
  });
  return {
    apps,
    mapBy: { by: options.byNode ? 'node' : 'slot' },
    oversubscribe: true,
    env: { PATH: '/bin:/usr/bin' },
    wdir: '/',
    stdin: options.stdin,
    launchTimeoutMs: options.launchTimeoutMs,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  };
}
