/** docs/reference/errors.md, from the table of error codes and its comments. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_KINDS, EXIT } from '../../../packages/interface/dist/index.js';
import { code, page, table } from './markdown.mjs';

const SOURCE = 'packages/interface/src/error-codes.ts';

/** Errors whose exit code is the tool's, or the signal's. */
const EXIT_OF = {
  STCI_TOOL_STATUS: 'the status', STCI_TOOL_SIGNAL: '128 + signal', STCI_JOB_INTERRUPTED: '128 + signal',
};

const INTRODUCTION = `Which failure decides the exit code of a job: [../exit-codes.md](../exit-codes.md).

Error codes are shown by \`--json\`, by the exit report, and by \`STCI_DEBUG=1\`. *Again* says whether the same call may
succeed later without a change.`;

export function errorsPage(root) {
  const comments = commentsOf(readFileSync(join(root, SOURCE), 'utf8'));
  const errors = Object.entries(ERROR_KINDS).map(([name, kind]) => {
    const [meaning, remedy] = commentOf(comments, name).split(/ To do: /);
    if (remedy === undefined) throw new Error(`${SOURCE}: the comment of ${name} has no 'To do: '`);
    return [code(name), EXIT_OF[name] ?? kind.exitCode, kind.retryable ? 'yes' : 'no', meaning, remedy];
  });
  return page('Errors', INTRODUCTION, [
    '## Exit codes', '',
    '0 to 192 belong to the tools (192 = 128 + 64, the highest signal). 193 and up have one meaning each:', '',
    ...table(['exit code', 'name', 'meaning'], exitCodes(root)), '',
    '## Error codes', '',
    ...table(['error code', 'exit code', 'again', 'meaning', 'what to do'], errors),
  ]);
}

/** Rows of number, name and meaning. */
export function exitCodes(root) {
  const comments = commentsOf(readFileSync(join(root, SOURCE), 'utf8'));
  return Object.entries(EXIT).map(([name, exitCode]) => [exitCode, name, commentOf(comments, name)]);
}

/** Comment of each member of a table, by its name. */
function commentsOf(source) {
  const found = [...source.matchAll(/^ {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}(\w+): /gm)];
  return new Map(found.map(([, text, name]) => [name, text.replace(/\n\s*\*? ?/g, ' ').trim()]));
}

function commentOf(comments, name) {
  const comment = comments.get(name);
  if (comment === undefined) throw new Error(`${SOURCE}: ${name} has no comment`);
  return comment;
}
