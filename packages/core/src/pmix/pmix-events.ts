/** Events for one library: those that it has asked for, of processes that it knows. */

import { caught, type Rank } from '@stci/interface';
import { PMIX_STATUS, decodeInfos, lostRank, type PmixEvent, type PmixProc } from '@stci/pmi';

export class PmixEvents {
  readonly #procOf: (rank: Rank) => PmixProc | undefined;
  readonly #tell: (event: PmixEvent) => void;
  /** `wantsAll`: the default handler. */
  readonly #codes = new Set<number>();
  #wantsAll = false;
  /** Losses before it asked for any. */
  readonly #untold: Rank[] = [];
  /** Its own, and those that it has spawned or is connected with: of others it is told nothing. */
  readonly #nspaces = new Set<string>();

  /** `procOf`: undefined for a rank that is not known. */
  constructor(procOf: (rank: Rank) => PmixProc | undefined, tell: (event: PmixEvent) => void) {
    this.#procOf = procOf;
    this.#tell = tell;
  }

  know(nspace: string): void {
    this.#nspaces.add(nspace);
  }

  lose(ranks: readonly Rank[]): void {
    if (!this.#wants(PMIX_STATUS.procAborted)) return void this.#untold.push(...ranks);
    for (const rank of ranks) {
      const proc = this.#procOf(rank);
      if (proc !== undefined && this.#nspaces.has(proc.nspace)) this.#tell(lostRank(proc));
    }
  }

  take(source: PmixProc, status: number, body: Uint8Array): void {
    if (!this.#wants(status)) return;
    // Agents of other hosts say what it is.
    const infos = caught(() => decodeInfos(body), () => undefined);
    if (infos !== undefined) this.#tell({ status, source, infos });
  }

  /** No codes: all of them. */
  register(codes: readonly number[]): void {
    for (const code of codes) this.#codes.add(code);
    this.#wantsAll ||= codes.length === 0;
    this.lose(this.#untold.splice(0));
  }

  deregister(codes: readonly number[]): void {
    for (const code of codes) this.#codes.delete(code);
  }

  #wants(status: number): boolean {
    return this.#wantsAll || this.#codes.has(status);
  }
}
