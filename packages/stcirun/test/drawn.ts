/** What a terminal shows once a program has written to it: of the control sequences only those that ours use. */

const PART =
  /\u001b\[(?<args>[\d;]*)(?<kind>[A-Za-z])|(?<control>[\u0000-\u001f\u007f])|(?<chars>[^\u0000-\u001f\u007f]+)/gu;
/** Of a sequence that has not come whole, its beginning. */
const CUT = /\u001b(?:\[[\d;]*)?$/u;

/** `rows` lines without blanks at their ends. An error for a sequence that none of our views should write. */
export function drawn(text: string, rows: number, columns: number): string[] {
  const grid: string[][] = Array.from({ length: rows }, () => []);
  let [row, column] = [0, 0];
  const down = (): void => {
    row += 1;
    if (row < rows) return;
    grid.shift();
    grid.push([]);
    row = rows - 1;
  };
  const put = (char: string): void => {
    if (column === columns) {
      column = 0;
      down();
    }
    const line = grid[row] as string[];
    while (line.length < column) line.push(' ');
    line[column] = char;
    column += 1;
  };
  for (const { groups = {} } of text.replace(CUT, '').matchAll(PART)) {
    const { args = '', kind, control, chars } = groups;
    if (chars !== undefined) for (const char of chars) put(char);
    else if (control === '\n') down();
    else if (control === '\r') column = 0;
    else if (kind === 'H' && args === '') [row, column] = [0, 0];
    else if (kind === 'K' && args === '') grid[row]?.splice(column);
    else if (kind === 'J' && args === '') {
      grid.forEach((line, at) => line.splice(at > row ? 0 : at === row ? column : Infinity));
    }
    else if (kind !== 'm') throw new Error(`the screen has ${JSON.stringify(control ?? `ESC [${args}${kind}`)}`);
  }
  return grid.map((line) => line.join('').trimEnd());
}
