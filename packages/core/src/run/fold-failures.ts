/**
 * Failures of hosts, joined into one message where only the host differs: forty hosts behind one dead switch give one
 * line with a host list.
 */

import { entryOf } from '@stci/interface';
import type { ErrorRecord } from '@stci/interface';
import { foldSorted } from '../job/hostset.js';

const IPV4 = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g;
const AGENT_PREFIX = /^Agent \S+ on host \S+ (?:is )?/;

/** Fewer hosts with the same cause are reported one by one, in full. */
const FOLDED_MIN = 3;

/** One text a cause, in the order of the first of each; `h[1-32]: …` where several hosts share it. */
export function foldFailures(failures: readonly ErrorRecord[]): string[] {
  const groups = new Map<string, ErrorRecord[]>();
  for (const failure of failures) entryOf(groups, withoutHost(failure), () => []).push(failure);
  return [...groups].flatMap(([text, group]) => {
    const hosts = new Set(group.map(({ host }) => host ?? ''));
    return hosts.size < FOLDED_MIN ? group.map(({ message }) => message) : [`${foldSorted(hosts)}: ${text}`];
  });
}

/** The message with the host's name replaced by HOST and its address by ADDRESS, so that equal causes compare equal. */
function withoutHost({ message, host, agent }: ErrorRecord): string {
  if (host === undefined) return message;
  const word = new RegExp(`(?<![\\w.-])${escaped(host)}(?![\\w-])`, 'g');
  const plain = message.replace(AGENT_PREFIX, '').replace(word, 'HOST').replace(IPV4, 'ADDRESS');
  return agent === undefined ? plain : plain.replaceAll(agent, 'AGENT');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
