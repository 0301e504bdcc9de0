/** Errors of the client library. Callers test `code`, never the text. */

import type { ProgramErrorCode } from '@stci/interface';

/**
 * `DISABLED`: the job was started without `--client`. `REFUSED`: the session agent does not take the connection.
 * `LOST`: the connection ended, because the agent did. `CLOSED`: after `close`. `ARGUMENT`: a value that is not right.
 * `RANK`: there is no such rank. `RANK_LOST`, `RANK_ENDED`: a rank that the call needs failed, or ended well.
 * `MISMATCH`: other ranks called another function. `LIMIT`: too much at once. `TIMEOUT`: no message came in time.
 * `CANCELLED`: a wait that was ended. `DUPLICATE`: two ranks put the same key. `COMBINE`: the program's function threw
 * at some rank. `TOPOLOGY`: no such topology.
 */
export type ClientErrorCode =
  | ProgramErrorCode
  | 'STCI_CLIENT_DISABLED' | 'STCI_CLIENT_REFUSED' | 'STCI_CLIENT_LOST' | 'STCI_CLIENT_CLOSED' | 'STCI_CLIENT_COMBINE';

export class ClientError extends Error {
  readonly code: ClientErrorCode;

  constructor(code: ClientErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ClientError';
    this.code = code;
  }
}

/** Why a call that waited cannot be answered any more. */
export function errorOfCall(call: string, { code, message }: ClientError): ClientError {
  return new ClientError(code, `${call}: ${message}`);
}

/** Error of a value that the function does not take. */
export function argumentError(call: string, text: string): ClientError {
  return new ClientError('STCI_CLIENT_ARGUMENT', `${call}: ${text}`);
}
