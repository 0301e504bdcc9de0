/**
 * An agent's part: before its boot link it gets the copies of plugins that its parent names and its host lacks. Loaded
 * only where there are plugins.
 */

import {
  decodeBootDetails, decodeParams, fetchPlugins, PLUGIN_COPIES, type BootRecord, type ParamSnapshot,
} from '@stci/core';
import { StciError, type Channel, type Platform } from '@stci/interface';
import { assembleRegistry, pluginFrameworks } from '../assembly/registry.js';
import { pluginError } from '../plugin/error.js';
import { pluginHooks } from '../plugin/hooks.js';
import { openCopy } from '../plugin/load.js';
import { copyNames, TIMEOUT, type CopyName } from '../plugin/params.js';
import { namePrints } from '../plugin/prints.js';
import { storeArchive, storedPlugin } from '../plugin/store.js';
import { attributed, printingPlugin, watchPlugins } from '../plugin/watch.js';
import { agentPlugins } from './agent-plugins.js';

function copiesOf(snapshot: ParamSnapshot): readonly CopyName[] {
  const value = snapshot[PLUGIN_COPIES];
  return Array.isArray(value) ? copyNames(value as readonly string[]) : [];
}

/** What a plugin throws ends the agent in order, so that its parent tells why. */
function watch(timeoutMs: number, fail: (reason: string) => void): void {
  const onFault = ({ message }: StciError): void => void setImmediate(fail, message);
  watchPlugins({ timeoutMs, speaker: 'stci', onFault });
  // What a plugin prints is not to be taken for what the agent says of it (core/src/boot/child.ts).
  namePrints(() => printingPlugin().replace(/^plugin /u, 'output of $&'), true);
  const onUncaught = (thrown: unknown): void => {
    const error = attributed(thrown);
    if (error instanceof StciError && error.code === 'STCI_PLUGIN_FAILED') return onFault(error);
    process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onUncaught);
}

export function takePlugins(
  { clock, env }: Platform,
  fail: (reason: string) => void,
  boot: BootRecord,
  channel: Channel,
  done: (problem: string, rest?: Channel) => void,
): void {
  Object.assign(agentPlugins, pluginHooks);
  agentPlugins.registry = (snapshot) => {
    const copies = copiesOf(snapshot);
    if (copies.length === 0) return undefined;
    const frameworks = pluginFrameworks();
    return assembleRegistry({}, copies.map((copy) => openCopy(copy, frameworks)));
  };
  let copies: readonly CopyName[] = [];
  let missing: number[] = [];
  let problem = '';
  try {
    const snapshot = decodeParams(decodeBootDetails(boot.details).params);
    copies = copiesOf(snapshot);
    watch(Number(snapshot[TIMEOUT]), fail);
    missing = [...copies.keys()].filter((index) => storedPlugin(copies[index]?.hash ?? '') === undefined);
  } catch (thrown) {
    const { message } = thrown as Error;
    problem = copies[0] === undefined ? message : pluginError(copies[0].path, message, 'STCI_PLUGIN_FAILED').message;
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
