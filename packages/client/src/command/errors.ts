/** How a call of stci-client ends: exit codes, and the error that carries one. */

/** Small: 193 to 215 are stcirun's own, and a script that ends with one of these is not mistaken for it. */
export const EXIT = { done: 0, no: 1, usage: 2, rankLost: 3, mismatch: 4, connection: 5, failed: 6 } as const;

const OF_CODE: Readonly<Record<string, number>> = {
  STCI_CLIENT_TIMEOUT: EXIT.no,
  STCI_CLIENT_ARGUMENT: EXIT.usage,
  STCI_CLIENT_RANK: EXIT.usage,
  STCI_CLIENT_TOPOLOGY: EXIT.usage,
  STCI_CLIENT_LIMIT: EXIT.usage,
  STCI_CLIENT_DUPLICATE: EXIT.usage,
  STCI_CLIENT_RANK_LOST: EXIT.rankLost,
  STCI_CLIENT_RANK_ENDED: EXIT.rankLost,
  STCI_CLIENT_MISMATCH: EXIT.mismatch,
};

export class CommandError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What the agent says of a call that it did not do. */
export function callError(code: unknown, reason: unknown): CommandError {
  return new CommandError(OF_CODE[String(code)] ?? EXIT.failed, String(reason));
}
