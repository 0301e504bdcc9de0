/** What a process has executed, as V8 counts it. */

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

export interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

/** Whether the code at an offset was executed. Ranges are nested: the innermost one counts. */
export function isExecuted(script: Script | undefined, offset: number): boolean {
  let inner: Range | undefined;
  for (const { ranges } of script?.functions ?? []) {
    for (const range of ranges) {
      if (range.startOffset > offset || range.endOffset <= offset) continue;
      if (inner === undefined || lengthOf(range) <= lengthOf(inner)) inner = range;
    }
  }
  return (inner?.count ?? 0) > 0;
}

function lengthOf({ startOffset, endOffset }: Range): number {
  return endOffset - startOffset;
}
