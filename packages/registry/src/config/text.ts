/** Small parts of messages: counted nouns, columns, lines that are cut or wrapped. */

/** `1 host`, `2 hosts`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** A line for each row, columns aligned; all but the last are cut at `columnMax` characters. */
export function alignColumns(rows: readonly (readonly string[])[], columnMax = Infinity): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, Math.min(columnMax, row[column]!.length)), 0),
  );
  return rows.map((row) => {
    const cells = row.map((cell, i) => (i === row.length - 1 ? cell : cut(cell, widths[i]!).padEnd(widths[i]!)));
    return cells.join('  ').trimEnd();
  });
}

export function cut(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
}

/** Words of `text` in lines of at most `columns` characters, indented by `first` and `rest`. A longer word is kept. */
export function wrapText(text: string, columns: number, first = 0, rest = 0): string[] {
  const lines: string[] = [];
  let [line, isEmpty] = [' '.repeat(first), true];
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line);
      [line, isEmpty] = [' '.repeat(rest), true];
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
