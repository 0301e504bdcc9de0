/** Errors of the client library. Callers test `code`, never the text. */

/**
 * `DISABLED`: the job was started without `--client`, or not by stcirun. `REFUSED`: the session agent does not take the
 * connection. `LOST`: the connection ended, because the agent did. `MISMATCH`: other ranks called another function.
 * `CLOSED`: after `close`. `ARGUMENT`: a value that is not allowed. `LIMIT`: too many marks.
 */
export type ClientErrorCode =
  | 'STCI_CLIENT_DISABLED' | 'STCI_CLIENT_REFUSED' | 'STCI_CLIENT_LOST' | 'STCI_CLIENT_MISMATCH'
  | 'STCI_CLIENT_CLOSED' | 'STCI_CLIENT_ARGUMENT' | 'STCI_CLIENT_LIMIT';

export class ClientError extends Error {
  readonly code: ClientErrorCode;

  constructor(code: ClientErrorCode, message: string) {
    super(message);
    this.name = 'ClientError';
    this.code = code;
  }
}
