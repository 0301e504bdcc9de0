/**
 * A command line as bash holds it while it is typed: its words up to the cursor, without their quotes; and the way
 * back, text as it must be typed. Nothing is expanded: `$`, backquotes and patterns stand for themselves.
 */

export interface BashLine {
  /** Without quotes; the last one is the word at the cursor, which may be empty. */
  readonly words: readonly string[];
  /** Where each word begins in the line. */
  readonly starts: readonly number[];
  /** A quote that the last word has not closed. */
  readonly quote: '' | "'" | '"';
  /** Characters of the last word that are before the part that bash replaces. */
  readonly kept: number;
}

/** `breaks`: bash's COMP_WORDBREAKS, at whose characters it begins a new word, outside of quotes. */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  const starts: number[] = [];
  let word: string | undefined;
  let quote: BashLine['quote'] = '';
  let kept = 0;
  for (let i = 0; i < line.length; i += 1) {
    const char = line.charAt(i);
    const isBlank = quote === '' && /\s/u.test(char);
    if (!isBlank && word === undefined) starts.push(i);
    if (isBlank) {
      if (word !== undefined) words.push(word);
      word = undefined;
      kept = 0;
    } else if (quote === '' && (char === "'" || char === '"')) {
      quote = char;
      word ??= '';
      kept = word.length;
    } else if (char === quote) {
      quote = '';
      kept = 0;
    } else if (char === '\\' && escapes(quote, line.charAt(i + 1))) {
      word = (word ?? '') + line.charAt(i + 1);
      i += 1;
    } else {
      word = (word ?? '') + char;
      if (quote === '' && breaks.includes(char)) kept = word.length;
    }
  }
  if (word === undefined) starts.push(line.length);
  return { words: [...words, word ?? ''], starts, quote, kept };
}

function escapes(quote: BashLine['quote'], next: string): boolean {
  return quote === '' || (quote === '"' && /["$\\`]/u.test(next));
}

const CONTROL = /\p{Cc}/u;

/**
 * What is typed for a text, in the place of the word from `kept` on; undefined: it cannot be typed there, as a newline,
 * or a quote between such quotes.
 */
export function bashText(text: string, { quote, kept }: Pick<BashLine, 'quote' | 'kept'>): string | undefined {
  if (CONTROL.test(text)) return undefined;
  const rest = text.slice(kept);
  if (quote === "'") return rest.includes("'") ? undefined : rest;
  if (quote === '"') return rest.includes('!') ? undefined : rest.replace(/["$\\`]/gu, '\\$&');
  return rest.replace(/[^\p{L}\p{N}_./:=@%+,^-]/gu, '\\$&');
}
