/** What a soak demands: of each job that was shown, and of the session's processes and files over time. Pure. */

const MIB = 1 << 20;
/** Least growth between two samples that is taken for one: compiled code, and pools that fill. */
const HEAP_SLACK = 4 * MIB;
const AGENT_SLACK = 40 * MIB;
/** What a job may leave in the session's process: fewer than its last 64 jobs are kept. */
const HEAP_PER_JOB = 1024;
/** Pipes of an agent that are kept for its next tools. */
const DESCRIPTORS_SLACK = 96;

/**
 * `plan`: ranks, status, lines of each rank; `seen`: status of stcirun, its lines of JSON; `killed`: hosts whose agent
 * was killed up to now. Texts of what is wrong.
 */
export function jobProblems(plan, seen, killed) {
  const ended = seen.events.filter(({ type }) => type === 'ended');
  if (ended.length !== 1) return [`${ended.length} reports, exit code ${seen.status}: ${seen.err.trim()}`];
  const { report } = ended[0];
  const problems = [];
  if (report.exitCode !== seen.status) problems.push(`exit code ${seen.status}, the report has ${report.exitCode}`);
  if (report.dropped !== undefined) problems.push('output was dropped');
  const ranks = report.ranks.map(({ rank }) => rank).sort((a, b) => a - b);
  if (ranks.join() !== Array.from({ length: plan.ranks }, (_, rank) => rank).join()) problems.push(`ranks ${ranks}`);
  const lost = report.ranks.filter(({ outcome }) => outcome === 'lost');
  for (const { rank, host } of lost) if (!killed.has(host)) problems.push(`rank ${rank} of ${host}, alive, is lost`);
  const isHurt = report.failures.some(({ host }) => killed.has(host));
  if (!isHurt && report.exitCode !== plan.status) problems.push(`exit code ${report.exitCode}, not ${plan.status}`);
  problems.push(...report.ranks.flatMap((rank) => rankProblems(plan, rank, seen.events, isHurt)));
  const reasons = report.failures.map(({ host, message }) => `its report: ${host}: ${message}`);
  return problems.length === 0 ? [] : [...problems, ...reasons];
}

function rankProblems(plan, { rank, outcome, status }, events, isHurt) {
  const own = events.filter((event) => event.rank === rank);
  const exits = own.filter(({ type }) => type === 'exited').length;
  const lines = own.filter(({ type }) => type === 'output').map(({ line }) => line);
  const problems = [];
  if (exits > 1) problems.push(`rank ${rank} ended ${exits} times`);
  if (outcome !== 'exited' && !isHurt) problems.push(`rank ${rank} is ${outcome} without a lost host`);
  if (outcome === 'exited' && status !== plan.status) problems.push(`rank ${rank} has status ${status}`);
  if (outcome === 'exited' && (exits !== 1 || lines.length !== plan.lines)) {
    problems.push(`rank ${rank}: ${exits} exit statuses, ${lines.length} of ${plan.lines} lines`);
  }
  // The last line of a rank that was killed may be a part of one.
  const whole = outcome === 'exited' ? lines : lines.slice(0, -1);
  if (whole.some((line, i) => line !== `${rank}.${i}`)) problems.push(`rank ${rank}: output out of order`);
  return problems;
}

/** `samples`: while no job runs, oldest first, those of the start left out. */
export function growthProblems(samples) {
  const [first, last] = [samples[0], samples.at(-1)];
  const problems = [];
  const grown = (what, from, to, slack) => {
    if (to > from + slack) problems.push(`${what}: ${from}, after ${last.jobs - first.jobs} more jobs ${to}`);
  };
  const heapSlack = HEAP_SLACK + HEAP_PER_JOB * (last.jobs - first.jobs);
  grown('bytes in the heap of the session', first.heap, last.heap, heapSlack);
  grown('descriptors of the session', first.descriptors, last.descriptors, 2);
  grown('processes', first.processes, last.processes, 0);
  grown('files', first.files, last.files, 0);
  for (const [pid, agent] of first.agents) {
    const now = last.agents.get(pid);
    if (now === undefined) continue;
    grown(`resident bytes of agent ${pid}`, agent.rss, now.rss, AGENT_SLACK);
    grown(`descriptors of agent ${pid}`, agent.descriptors, now.descriptors, DESCRIPTORS_SLACK);
  }
  return problems;
}
