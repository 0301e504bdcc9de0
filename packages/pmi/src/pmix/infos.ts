/** Values of infos by their keys, as requests bring them. */

import type { PmixInfo } from './bfrops/types.js';

/** A flag that is there without a value is set. */
export function hasFlag(infos: readonly PmixInfo[], key: string): boolean {
  const found = infos.find((info) => info.key === key);
  return found !== undefined && !(found.value.type === 'bool' && !found.value.data);
}

/** A text that is not empty. */
export function textOf(infos: readonly PmixInfo[], key: string): string | undefined {
  const value = infos.find((info) => info.key === key)?.value;
  return value?.type === 'string' && value.data !== null && value.data !== '' ? value.data : undefined;
}

/** Texts of the keys that are meant. */
export function textsOf(infos: readonly PmixInfo[], keys: RegExp): string[] {
  return infos.flatMap(({ key, value }) =>
    (keys.test(key) && value.type === 'string' && value.data !== null ? [value.data] : []));
}

/** The longest timeout that a library may ask for, s. */
const TIMEOUT_S_MAX = 1_000_000;

/** How long a library waits for an answer, ms; 0: as long as it takes. */
export function timeoutMsOf(infos: readonly PmixInfo[]): number {
  const seconds = infos.find(({ key }) => key === 'pmix.timeout')?.value.data;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, TIMEOUT_S_MAX) * 1000 : 0;
}
