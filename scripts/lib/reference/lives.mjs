/** State diagrams of docs/architecture.md: each is drawn from the table that its first line, a comment, names. */

import { AGENT_LIFE } from '../../../packages/core/dist/agent/lifecycle.js';
import { CHILD_LIFE } from '../../../packages/core/dist/boot/child.js';
import { JOB_HOST_LIFE } from '../../../packages/core/dist/jobs/job-hosts.js';
import { MEMBER_LIFE } from '../../../packages/core/dist/membership/member.js';
import { RANK_LIFE } from '../../../packages/core/dist/tools/hosted-rank.js';
import { HOSTED_JOB_LIFE } from '../../../packages/core/dist/tools/session.js';
import { TOOL_LIFE } from '../../../packages/core/dist/tools/tool.js';

const LIVES = { AGENT_LIFE, CHILD_LIFE, MEMBER_LIFE, JOB_HOST_LIFE, RANK_LIFE, HOSTED_JOB_LIFE, TOOL_LIFE };

const DIAGRAM = /(?<=^stateDiagram-v2\n {2}%% written by scripts\/write-reference\.mjs from (\w+)\n)(?: .*\n)*/gm;

/** The document with its diagrams as the tables are; throws where one is missing. */
export function withLives(document) {
  const left = new Set(Object.keys(LIVES));
  const text = document.replace(DIAGRAM, (_lines, name) => {
    if (!left.delete(name)) throw new Error(`Expected each of ${Object.keys(LIVES)} drawn once, got ${name}`);
    return linesOf(LIVES[name]);
  });
  if (left.size > 0) throw new Error(`Expected each of ${Object.keys(LIVES)} drawn once, missing ${[...left]}`);
  return text;
}

/** Events that lead from one state to the same other one are one arrow; those that change nothing are not drawn. */
function linesOf({ first, rows }) {
  const arrows = new Map([[`[*] --> ${first}`, []]]);
  for (const [from, row] of Object.entries(rows)) {
    for (const [event, to] of Object.entries(row)) {
      const arrow = `${from} --> ${to}`;
      if (from !== to) arrows.set(arrow, [...(arrows.get(arrow) ?? []), event]);
    }
  }
  const label = (events) => (events.length === 0 ? '' : `: ${events.join(', ')}`);
  return [...arrows].map(([arrow, events]) => `  ${arrow}${label(events)}\n`).join('');
}
