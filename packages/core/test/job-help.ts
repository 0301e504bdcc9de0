/** Job specifications for tests, short. */

import type { AllocatedJob, AppSpec, HostSpec } from '@stci/interface';

export const LIMITS = { ranksMax: 1_000_000, ranksPerHostMax: 1_000_000 };

export function app(count?: number, more: Partial<AppSpec> = {}): AppSpec {
  return { program: 'prog', args: [], env: {}, ...(count !== undefined && { count }), ...more };
}

/** `a:2` is bound, `a~2` is a hint. */
export function hosts(text: string): HostSpec[] {
  return text.split(' ').map((word) => {
    const [, name = '', sign = '~', slots = '1'] = /^(\w+)([:~])?(\d+)?$/.exec(word) ?? [];
    return { name, slots: Number(slots), slotsBound: sign === ':', origin: '--host' };
  });
}

export function job(more: Partial<AllocatedJob>): AllocatedJob {
  return {
    apps: [app()], hosts: hosts('a'), mapBy: { by: 'slot' }, oversubscribe: false, env: {}, wdir: '/',
    stdin: { to: 'none' }, launchTimeoutMs: 1000, ...more,
  };
}
