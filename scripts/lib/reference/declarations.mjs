/**
 * Reads declaration files as the compiler prints them: every exported statement begins at the first column, its comment
 * directly above it.
 */

/** `export * from './a.js'` gives no names: all of the file's. */
export function exportsOf(source) {
  const found = source.matchAll(/^export (\*|\{([^}]*)\}) from '([^']+)';/gm);
  return [...found].map(([, , list, file]) => ({ file, names: list === undefined ? undefined : namesOf(list) }));
}

function namesOf(list) {
  return list.split(',').map((one) => one.trim().replace(/^type /, '')).filter((one) => one !== '');
}

/** The comment at the head of a source file. */
export function headOf(source) {
  return commentText(/^\/\*\*[^]*?\*\//.exec(source)?.[0] ?? '');
}

function commentText(comment) {
  const lines = comment.replace(/^\s*\/\*\*[ ]?|\s*\*\/$/g, '').split('\n');
  return lines.map((line) => line.replace(/^ ?\* ?/, '')).join('\n').trim();
}

/** Exported statements with name, comment and text; `head`: the comment of the file, which is of none of them. */
export function declarations(text, head) {
  const found = [];
  let comment = '';
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (line.startsWith('/**')) {
      const end = lines.findIndex((one, index) => index >= at && one.endsWith('*/'));
      const read = commentText(lines.slice(at, end + 1).join('\n'));
      comment = read === head ? '' : read;
      at = end;
    } else if (line.startsWith('export ')) {
      const end = endOf(lines, at);
      const name = /^export (?:declare )?(?:abstract )?(?:interface|type|class|function|const) (\w+)/.exec(line)?.[1];
      if (name !== undefined) found.push({ name, comment, text: tidied(lines.slice(at, end + 1)) });
      comment = '';
      at = end;
    } else if (line.trim() !== '') {
      comment = '';
    }
  }
  return joined(found);
}

/** End of a block, its closing brace at the first column; else of a statement, its semicolon outside of brackets. */
function endOf(lines, from) {
  const isBlock = /^export (?:declare )?(?:abstract )?(?:interface|class) /.test(lines[from]);
  let depth = 0;
  let isComment = false;
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at];
    const bare = (isComment ? `/*${line}` : line).replace(/\/\*.*?\*\//g, '').replace(/'[^']*'/g, '');
    isComment = bare.includes('/*');
    const code = bare.replace(/\/\*.*$/, '');
    depth += count(code, /[{([]/g) - count(code, /[})\]]/g);
    if (depth === 0 && !isComment && (isBlock ? line.endsWith('}') : line.endsWith(';'))) return at;
  }
  throw new Error(`no end of: ${lines[from]}`);
}

function count(line, pattern) {
  return line.match(pattern)?.length ?? 0;
}

function tidied(lines) {
  return lines.filter((line) => line.trim() !== '#private;')
    .map((line) => line.replace(/^( {4})+/, (spaces) => ' '.repeat(spaces.length / 2)))
    .map((line) => line.trimEnd()).join('\n').replace(/^export (?:declare )?/, '');
}

/** Overloads, and a type beside a value of the same name, are one. */
function joined(found) {
  const byName = new Map();
  for (const one of found) {
    const before = byName.get(one.name);
    if (before === undefined) byName.set(one.name, one);
    else {
      const comment = [before.comment, one.comment].filter((text) => text !== '').join('\n\n');
      byName.set(one.name, { ...before, comment, text: `${before.text}\n${one.text}` });
    }
  }
  return [...byName.values()];
}
