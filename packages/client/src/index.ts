/**
 * Client library for programs that stcirun runs: they learn of the failure of other ranks, agree among the survivors,
 * and let themselves be watched.
 *
 * @example
 * import { connect } from '@stci/client';
 * const stci = await connect();
 * stci.onFailure(({ ranks, reason }) => console.error(`lost ${ranks}: ${reason}`));
 * const { flag, failed } = await stci.agree(isMyPartDone);
 */

export { connect, type ConnectOptions } from './connect.js';
export type {
  Agreement, Client, Combine, Group, HostRanks, Loss, Message, ReceiveOptions, SendOptions, Stream, StreamOptions,
  TopologyOptions, TopologyPlace, Watchdog,
} from './contracts.js';
export { ClientError, type ClientErrorCode } from './errors.js';
