/** Command lines as texts: cut into words without a shell. */

/** The words, or what is wrong with the text: a sentence without what was written. */
export type Words =
  | { readonly ok: true; readonly value: string[] }
  | { readonly ok: false; readonly problem: string };

/** A text as a shell would cut it into words: quotes and backslashes, nothing is expanded. */
export function splitWords(text: string): Words {
  const words: string[] = [];
  let word: string | undefined;
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(.)/gsy;
  for (const [all, single, double, escaped, plain, stray] of text.matchAll(part)) {
    if (stray !== undefined) {
      return { ok: false, problem: stray === '\\' ? 'ends with a backslash' : `has an open ${stray}` };
    }
    if (/^\s/.test(all)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? '');
  }
  return { ok: true, value: word === undefined ? words : [...words, word] };
}
