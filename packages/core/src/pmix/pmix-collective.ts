/** Fences, connects and groups, as a library enters them and is answered. */

import { caught } from '@stci/interface';
import {
  PMIX_RANK, PMIX_STATUS, decodeInfos, encodeGroupSince6, encodeInfos, encodeReply, encodeStatus, hasFlag,
  type BufferForm, type PmixRequestOf,
} from '@stci/pmi';
import type { Cancel, CollectiveKind, CollectiveResult, Done } from '../pmi/contracts.js';
import type { PmixHost } from './pmix-host.js';

export type CollectiveRequest = PmixRequestOf<keyof typeof KINDS>;

/** Who enters. */
export interface PmixMember {
  readonly rank: number;
  readonly nspace: string;
  readonly form: BufferForm;
  /** Its library reads answers to groups as version 6 and later do. */
  readonly isNew: boolean;
  /** It is told of losses there from now on. */
  know(nspace: string): void;
}

const KINDS = {
  fence: 'fence', connect: 'connect', disconnect: 'disconnect', groupConstruct: 'group', groupDestruct: 'ungroup',
} as const satisfies Record<string, CollectiveKind>;
/** What a member of a group tells the others of itself. */
const GROUP_INFO = 'pmix.grp.info';

/** Calls `send` with the answer when the collective is over. */
export function enterCollective(
  server: PmixHost, member: PmixMember, request: CollectiveRequest, send: (body: Uint8Array) => void,
): Cancel {
  return enter(server, member, request, (result, problem) => {
    if (result === undefined) {
      const status = problem === undefined ? PMIX_STATUS.success : PMIX_STATUS.error;
      return send(encodeStatus(member.form, status));
    }
    send(answerOf(server, member, request, result));
  });
}

function answerOf(
  server: PmixHost, { nspace, form, isNew, know }: PmixMember, { command, procs }: CollectiveRequest,
  { context, data }: CollectiveResult,
): Uint8Array {
  if (command === 'connect') {
    const foreign = [...new Set(procs.map((proc) => proc.nspace))].filter((name) => name !== nspace);
    for (const name of foreign) know(name);
    return encodeReply(form, 'connect', { nspaces: foreign.flatMap((name) => server.infoOf(name, form) ?? []) });
  }
  if (command !== 'groupConstruct') return encodeStatus(form, PMIX_STATUS.success);
  if (!isNew) return encodeReply(form, 'groupConstruct', { procs, context: BigInt(context) });
  // Another host's agent has told them.
  const infos = data.flatMap(([, , pairs]) =>
    pairs.flatMap(([, bytes]) => caught(() => decodeInfos(bytes), () => [])));
  return encodeGroupSince6(form, { procs, hasContext: true, context: BigInt(context), infos });
}

function enter(
  server: PmixHost, { rank, nspace }: PmixMember, { command, ...request }: CollectiveRequest,
  done: Done<CollectiveResult>,
): Cancel {
  const { host } = server;
  const { procs, infos } = request;
  const named = procs.length > 0 ? procs : [{ nspace, rank: PMIX_RANK.wildcard }];
  let [isCancelled, cancel] = [false, undefined as Cancel | undefined];
  const known = (problem?: string): void => {
    if (isCancelled) return;
    const members = problem === undefined ? server.rangesOf(named) : undefined;
    if (members === undefined) return done(undefined, problem ?? 'it names processes that are not known');
    const of = { kind: KINDS[command], name: 'id' in request ? request.id : '', members };
    // Agents of other jobs are not asked later for what their ranks have put.
    const collects = command === 'connect' || hasFlag(infos, 'pmix.collect');
    const told = infos.filter(({ key }) => key === GROUP_INFO);
    const own = told.length > 0 ? [[GROUP_INFO, encodeInfos(told)] as const] : [];
    cancel = host.enter(rank, of, of.kind === 'group' ? own : collects, done);
  };
  const foreign = [...new Set(named.map((proc) => proc.nspace))].filter((name) => host.setOf(name) === undefined);
  if (foreign.length === 0) known();
  else host.learn(foreign, known);
  return () => {
    isCancelled = true;
    cancel?.();
  };
}
