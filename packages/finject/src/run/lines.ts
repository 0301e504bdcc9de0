/** Lines of chunks of text, for each source by itself. */

/** A longer line is cut here; the rest counts as the next. */
const LINE_CHARS_MAX = 65_536;

export class LineSplitter {
  readonly #rests = new Map<string, string>();

  /** The lines that this chunk completes, without their ends. */
  push(source: string, text: string): readonly string[] {
    const lines = ((this.#rests.get(source) ?? '') + text).split('\n');
    let rest = lines.pop() ?? '';
    for (; rest.length > LINE_CHARS_MAX; rest = rest.slice(LINE_CHARS_MAX)) lines.push(rest.slice(0, LINE_CHARS_MAX));
    this.#rests.set(source, rest);
    return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }

  /** The source has ended: what came without an end of line. */
  end(source: string): readonly string[] {
    const rest = this.#rests.get(source) ?? '';
    this.#rests.delete(source);
    return rest === '' ? [] : [rest];
  }
}
