/** Events for one library: those that it has asked for, of processes that it knows. */

import { caught, type Rank } from '@stci/interface';
import { PMIX_STATUS, decodeInfos, lostRank, type PmixEvent, type PmixProc } from '@stci/pmi';

export class PmixEvents {
  readonly #procOf: (rank: Rank) => PmixProc | undefined;
  readonly #encode: (event: PmixEvent) => Uint8Array;
  readonly #send: (body: Uint8Array) => void;
  /** `wantsAll`: the default handler. */
  readonly #codes = new Set<number>();
  #wantsAll = false;
  /** Losses before it asked for any. */
  readonly #untold: Rank[] = [];
  /** Its own, and those that it has spawned or is connected with: of others it is told nothing. */
  readonly #nspaces = new Set<string>();

  /** `procOf`: undefined for a rank that is not known. */
  constructor(
    procOf: (rank: Rank) => PmixProc | undefined, encode: (event: PmixEvent) => Uint8Array,
    send: (body: Uint8Array) => void,
  ) {
    this.#procOf = procOf;
    this.#encode = encode;
    this.#send = send;
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

  /** A loss is encoded once before there is one, when nobody waits: the first time takes ten times as long. */
  #rehearse(): void {
    const proc = this.#procOf(0);
    if (proc !== undefined) this.#encode(lostRank(proc));
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
    if (this.#wants(PMIX_STATUS.procAborted)) this.#rehearse();
    this.lose(this.#untold.splice(0));
  }

  deregister(codes: readonly number[]): void {
    for (const code of codes) this.#codes.delete(code);
  }

  #tell(event: PmixEvent): void {
    this.#send(this.#encode(event));
  }

  #wants(status: number): boolean {
    return this.#wantsAll || this.#codes.has(status);
  }
}
