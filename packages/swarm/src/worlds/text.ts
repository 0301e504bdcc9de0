/** Bytes as text, and tables. */

const PART = 8192;

/** Bytes as text, a character for each byte. */
export function bytesText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PART) {
    // A spread would make an array of numbers of each part first.
    text += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + PART));
  }
  return text;
}

/** Rows of a table, each column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd());
}
