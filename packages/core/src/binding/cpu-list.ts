/** Lists of numbers as the kernel and taskset write them: `0-3,8`. */

const ITEM = /^(\d{1,7})(?:-(\d{1,7}))?$/;

/** Numbers beyond any processor that a kernel has: a larger range is no list of processors. */
const NUMBER_MAX = 1 << 20;

/** Ascending; undefined where the text is no such list. An empty text names none. */
export function parseCpuList(text: string): number[] | undefined {
  const found = new Set<number>();
  for (const item of text.trim().split(',')) {
    if (item === '') continue;
    const [, first, last = first] = ITEM.exec(item.trim()) ?? [];
    if (first === undefined || Number(last) < Number(first) || Number(last) > NUMBER_MAX) return undefined;
    for (let number = Number(first); number <= Number(last); number++) found.add(number);
  }
  return [...found].sort((a, b) => a - b);
}

export function cpuList(numbers: Iterable<number>): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const starts = sorted.filter((number, i) => sorted[i - 1] !== number - 1);
  const ends = sorted.filter((number, i) => sorted[i + 1] !== number + 1);
  return starts.map((first, i) => (first === ends[i] ? `${first}` : `${first}-${ends[i]}`)).join();
}
