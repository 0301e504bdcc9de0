/**
 * An agent's part: before its boot link it gets the copies of plugins that its parent names and its host lacks. Loaded
 * only where there are plugins.
 */

import {
  decodeBootDetails, decodeParams, fetchPlugins, PLUGIN_COPIES, type BootRecord, type ParamSnapshot,
} from '@stci/core';
import type { Channel, Platform } from '@stci/interface';
import { assembleRegistry, pluginFrameworks } from '../assembly.js';
import { agentPlugins } from './agent-plugins.js';
import { pluginError } from './error.js';
import { pluginHooks } from './hooks.js';
import { openCopy } from './load.js';
import { copyNames, type CopyName } from './params.js';
import { storeArchive, storedPlugin } from './store.js';

function copiesOf(snapshot: ParamSnapshot): readonly CopyName[] {
  const value = snapshot[PLUGIN_COPIES];
  return Array.isArray(value) ? copyNames(value as readonly string[]) : [];
}

export function takePlugins(
  { clock, env }: Platform,
  boot: BootRecord,
  channel: Channel,
  done: (problem: string, rest?: Channel) => void,
): void {
  Object.assign(agentPlugins, pluginHooks);
  agentPlugins.registry = (snapshot) => {
    const copies = copiesOf(snapshot);
    if (copies.length === 0) return undefined;
    const frameworks = pluginFrameworks();
    return assembleRegistry([], copies.map((copy) => openCopy(copy, frameworks)));
  };
  let copies: readonly CopyName[] = [];
  let missing: number[] = [];
  let problem = '';
  try {
    copies = copiesOf(decodeParams(decodeBootDetails(boot.details).params));
    missing = [...copies.keys()].filter((index) => storedPlugin(copies[index]?.hash ?? '') === undefined);
  } catch (thrown) {
    problem = (thrown as Error).message;
  }
  const keep = (index: number, archive: Uint8Array): void => {
    const { path, hash } = copies[index] as CopyName;
    const wrong = (text: string): Error => pluginError(path, `${text}, on host ${env.hostname}`, 'STCI_PLUGIN_FAILED');
    if (archive.length === 0) throw wrong(`its copy ${hash} is gone where this agent was started`);
    try {
      storeArchive(archive, hash);
    } catch (thrown) {
      throw wrong((thrown as Error).message);
    }
  };
  const init = { channel, clock, self: boot.self, deadlineMs: boot.handshakeMs };
  fetchPlugins(init, missing, keep, done, problem);
}
