/** What MPI libraries speak with a launcher, both sides, pure: PMI-1 (MPICH) and PMIx (Open MPI). */

export { fromByteText, readText, toByteText, writeText } from './bytes/byte-text.js';
export { isRefusedBody } from './bytes/refusal.js';
export { PMI1_BOUNDS, Pmi1Reader, formatCommand, type Pmi1Bounds, type Pmi1Command } from './pmi1/lines.js';
export {
  DEAD_PROCESSES_KEY, PROCESS_MAPPING_KEY, formatDeadProcesses, formatProcessMapping, parseDeadProcesses,
  parseProcessMapping,
} from './pmi1/mapping.js';
export {
  PMI1_MAXES, Pmi1Server, type Pmi1Answer, type Pmi1Event, type Pmi1ServerInit, type Pmi1Step,
} from './pmi1/server.js';
export { formatSpawn, type Pmi1Program } from './pmi1/spawn.js';
export { decodeValue, encodeValue } from './pmix/bfrops/codecs.js';
export { Packer, Unpacker } from './pmix/bfrops/packing.js';
export * from './pmix/bfrops/types.js';
export { PmixClientEnd, PmixServerEnd, type PmixArrival } from './pmix/connections.js';
export { encodeRankData, type NspaceData, type RankData, type ScopeData } from './pmix/fields.js';
export { FRAME_BODY_BYTES_MAX, TAG, encodeFrame, type PmixFrame } from './pmix/frames.js';
export {
  HELLO_BYTES_MAX, clientMajor, encodeHello, encodeWelcome, helloProblem, type PmixHello, type PmixWelcome,
} from './pmix/handshake.js';
export { hasFlag, textOf, textsOf, timeoutMsOf } from './pmix/infos.js';
export {
  jobInfoKvals, jobPairs, type JobInfo, type JobInfoApp, type JobInfoHost, type JobInfoRank,
} from './pmix/job-info.js';
export {
  GROUP_REPLY_MAJOR, PMIX_STATUS, decodeEvent, decodeInfos, decodeJobInfo, decodeReply, encodeEvent,
  encodeGet, encodeGroupSince6, encodeInfos, encodeJobInfo, encodeReply, encodeStatus, lostRank, type JobInfoReply,
  type PmixEvent, type PmixReplyName,
  type PmixReplyOf,
} from './pmix/replies.js';
export {
  PMIX_COMMAND, decodeRequest, encodeRequest, type PmixCommand, type PmixRequest, type PmixRequestOf,
} from './pmix/requests.js';
