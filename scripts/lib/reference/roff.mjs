/**
 * Pieces of manual pages in roff (man(7)). All text goes through `roff`: a backslash, a quote or a hyphen is the
 * character itself, and no line of text begins a request.
 */

/** Characters that roff reads as others, or that terminals show as others. */
const ESCAPES = {
  '\\': '\\e', '-': '\\-', "'": '\\(aq', '`': '\\(ga', '^': '\\(ha', '~': '\\(ti', '"': '\\(dq',
};

/** Running text; may have several lines. */
export function roff(text) {
  return text
    .replace(/[\\\-'`^~"]/g, (char) => ESCAPES[char])
    .replace(/[^\n\x20-\x7e]/gu, (char) => `\\[u${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^\./gm, '\\&.');
}

/** Text of Markdown: code is bold, and links are their text. No line begins a request. */
export function prose(text) {
  const plain = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return plain.split(/(`[^`]+`)/).map((part, index) =>
    (index % 2 === 1 ? `\\fB${roff(part.slice(1, -1))}\\fR` : roff(part))).join('')
    .split('\n').map((line) => line.trim()).join('\n');
}

export function title(name, section, version) {
  return [`.TH ${name.toUpperCase()} ${section} "" "STCI ${version}" "STCI"`, '.nh', '.ad l'];
}

export function section(name, lines) {
  return [`.SH "${roff(name.toUpperCase())}"`, ...lines];
}

export function subsection(name, lines) {
  return [`.SS "${roff(name)}"`, ...lines];
}

/** A tagged paragraph: an option and what it does. */
export function item(tag, text) {
  return ['.TP', `\\fB${roff(tag)}\\fR`, prose(text)];
}

export function paragraph(text) {
  return ['.PP', prose(text)];
}

/** Lines as they are. */
export function literal(text) {
  return ['.PP', '.nf', ...text.split('\n').map((line) => (line === '' ? '\\&' : roff(line))), '.fi'];
}

/** Headings, paragraphs, lists, tables and fenced lines of a Markdown page, without its title. */
export function fromMarkdown(text, row) {
  const lines = [];
  const blocks = text.split(/\n{2,}/);
  for (let at = 0; at < blocks.length; at += 1) {
    const block = blocks[at];
    const heading = /^(#+) (.*)$/.exec(block);
    if (heading !== null) {
      if (heading[1].length > 1) lines.push(...section(heading[2], []));
    } else if (block.startsWith('```')) {
      lines.push(...literal(block.split('\n').slice(1, -1).join('\n')));
    } else if (block.startsWith('| ')) {
      const rows = block.split('\n').filter((line) => !/^\|(?:---\|)+$/.test(line)).slice(1);
      lines.push(...rows.map(cellsOf).flatMap(row));
    } else {
      lines.push(...paragraph(block.trim()));
    }
  }
  return lines;
}

function cellsOf(line) {
  return line.slice(2, -2).split(/ (?<!\\)\| /).map((cell) => cell.replaceAll('\\|', '|').replaceAll('&lt;', '<'));
}

export function manual(lines) {
  return `${lines.join('\n').trimEnd()}\n`;
}
