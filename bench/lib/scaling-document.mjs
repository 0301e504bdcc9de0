/** docs/scaling.md and its plot, from measured costs and checks: the same input gives the same bytes. */

import { KEY_EXCHANGES } from './key-exchange.mjs';
import { plot } from './plot.mjs';
import { ARITIES, HOSTS_MAX, best, crossover, estimate } from './scaling-model.mjs';

const HOSTS = [1, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000, 5000, HOSTS_MAX];
const SHOWN = [2, 4, 8, 16, 32];
/** The default of launcher.tree.arity. */
const DEFAULT_ARITY = 8;
const PROCESSORS = 2;
const MORE_PROCESSORS = [1, 2, 4, 8, 16, 32];

export function scalingDocument(costs, checks) {
  return `${intro(costs)}
${costTable(costs)}
## Time until all are up

Seconds for a whole \`-n N true\` on N hosts with ${PROCESSORS} processors each, as the machine that was measured has.
Hydra starts flat, as pdsh does. The quickest of our columns is bold.

Table and plot are computed by the model below from what one start costs; launches of this size were not measured.

![Seconds over hosts, computed by the model](scaling.svg)

${timeTable(costs)}
## Depth, messages, work of the front-end

Arity ${DEFAULT_ARITY}. Messages: the report of each agent on every link it takes upwards, and the job on every link
downwards. Processor seconds are those of the front-end's host.

${workTable(costs)}
## Which arity

${arityTable(costs)}
${conclusion(costs)}
${exchanges(costs)}## The model, and how far it is to be believed

An agent begins to start its children when it is up; its starts follow each other by the larger of the processor
time of one divided by its processors and the time in its own thread; each child is up a constant time after its start;
at most \`launcher.window\` of them are under way; the controller takes one report after the other
(\`bench/lib/launch-model.mjs\`). The real agents' code, started on simulated hosts by a login of that length,
comes up as the model says:

| hosts | arity | model, s | simulated, s | deviation |
|---|---|---|---|---|
${checks.map(checkRow).join('\n')}

The simulation has no processors: it checks the order and overlap of starts, windows and messages, not the constants.
The network is taken as fast, hosts as alike, and nothing as failing; a slow network lengthens each login, so a tree
pays it once a level and a flat start once. Hydra is taken at its best, without a limit of open files or of logins at a
time.
`;
}

function intro({ machine, date, rounds, othersPercent }) {
  return `# Scaling

How long a launch takes on many hosts of their own, computed from what one start costs. \`npm run bench -- costs\`
measures that on test hosts of this machine, \`npm run bench -- scaling\` computes this page and its plot (neither is
edited by hand), \`npm run bench -- launch\` compares whole launches with their peers where all hosts share two
processors; see [speed.md](speed.md).

Measured on ${date}: ${machine}; medians of ${rounds}, in turns. Other work had at most
${othersPercent.toFixed(0)} % of the processors while wall times were taken. Milliseconds:
`;
}

function costTable({ ssh, hydra, ours }) {
  const row = (name, ...cells) => `| ${name} | ${cells.map((cell) => (cell === undefined ? '–' : cell)).join(' | ')} |`;
  const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
  return [
    row('', '`ssh host true`', 'hydra', 'ours'),
    '|---|---|---|---|',
    row('one host, all of it', ms(ssh.wallMs), ms(hydra.fixedMs + hydra.childMs), ms(ours.fixedMs + ours.childMs)),
    row('one more level: from the start of a child until it is up', '–', '–', ms(ours.childMs)),
    row('processor at the starter, a child', ms(ssh.starterCpuMs), ms(hydra.starterCpuMs), ms(ours.starterCpuMs)),
    row('of that in the starter\'s own thread', '–', ms(hydra.starterThreadMs), ms(ours.starterThreadMs)),
    row('processor at the host', ms(ssh.hostCpuMs), ms(hydra.hostCpuMs), ms(ours.hostCpuMs)),
    row('processor at the controller, a host that others started', '–', '–', ms(ours.reportMs)),
    '',
  ].join('\n');
}

function timeTable({ hydra, ours }) {
  const rows = HOSTS.map((hosts) => {
    const ourMs = [...SHOWN, Infinity].map((arity) => estimate(ours, PROCESSORS, hosts, arity).wallMs);
    const least = seconds(Math.min(...ourMs));
    const cells = ourMs.map((ms) => (seconds(ms) === least ? `**${least}**` : seconds(ms)));
    return `| ${hosts} | ${seconds(estimate(hydra, PROCESSORS, hosts, Infinity).wallMs)} | ${cells.join(' | ')} |`;
  });
  const heads = [...SHOWN.map((arity) => `arity ${arity}`), 'flat'];
  return [`| hosts | hydra | ${heads.join(' | ')} |`, '|---'.repeat(heads.length + 2) + '|', ...rows, ''].join('\n');
}

function workTable({ hydra, ours }) {
  const rows = HOSTS.map((hosts) => {
    const tree = estimate(ours, PROCESSORS, hosts, DEFAULT_ARITY);
    const flat = estimate(ours, PROCESSORS, hosts, Infinity);
    const other = estimate(hydra, PROCESSORS, hosts, Infinity);
    const cpu = [tree, flat, other].map(({ frontCpuMs }) => (frontCpuMs / 1000).toFixed(1)).join(' | ');
    return `| ${hosts} | ${tree.depth} | ${tree.messages} | ${cpu} |`;
  });
  return ['| hosts | depth | messages | processor s | flat | hydra |', '|---'.repeat(6) + '|', ...rows, ''].join('\n');
}

/**
 * By processors per host: the best arity at some sizes, how much worse the default is, and from which size hydra is
 * slower.
 */
function arityTable(costs) {
  const sizes = [32, 64, 256, 1000, HOSTS_MAX];
  const rows = MORE_PROCESSORS.map((processors) => {
    const cells = sizes.map((hosts) => {
      const { arity, wallMs } = best(costs.ours, processors, hosts);
      const ownMs = estimate(costs.ours, processors, hosts, DEFAULT_ARITY).wallMs;
      return `${arity === Infinity ? 'flat' : arity} (+${(100 * (ownMs / wallMs - 1)).toFixed(0)} %)`;
    });
    const from = crossover(costs, processors, DEFAULT_ARITY);
    return `| ${processors} | ${cells.join(' | ')} | ${from ?? 'none'} |`;
  });
  return [
    `By processors a host: the quickest of ${ARITIES.join(', ')} and flat;`,
    `in brackets how much longer the default, ${DEFAULT_ARITY}, takes.`,
    'Last: the number of hosts from which on the default is ahead of hydra\'s flat start.',
    '',
    `| processors | ${sizes.map((hosts) => `${hosts} hosts`).join(' | ')} | ahead of hydra from |`,
    '|---'.repeat(sizes.length + 2) + '|',
    ...rows,
    '',
  ].join('\n');
}

function conclusion(costs) {
  const worst = (arity) => Math.max(...[64, 256, 1000, 5000, HOSTS_MAX].map((hosts) =>
    estimate(costs.ours, PROCESSORS, hosts, arity).wallMs / best(costs.ours, PROCESSORS, hosts).wallMs));
  const shown = [4, 6, 8, 12, 16, 24, 32].map((arity) => `${arity}: ${((worst(arity) - 1) * 100).toFixed(0)} %`);
  return `At the worst of 64, 256, 1 000, 5 000 and 10 000 hosts each arity takes longer than the best one there by
(${PROCESSORS} processors) ${shown.join(', ')}.

A level costs what a login and the start of an agent take, a child what its ssh client takes of the starter's
processors: with few processors narrow trees win, with many wide ones. ${DEFAULT_ARITY} is within the window of one
start (\`launcher.window\`), loses little with few processors at any size, and leaves each agent few links to watch:
it is the default. Where hosts have many processors, say 16, \`--mca launcher.tree.arity=24 --mca launcher.window=24\`
is quicker for hundreds of hosts; hydra's flat start stays ahead for longer there, since the work of its one starter is
what a tree saves.

What limits: with few hosts the time of one start, most of it the login's own; from some thousand hosts on the
controller, which takes ${costs.ours.reportMs.toFixed(1)} ms of processor for each host. That figure is of a whole
job, with the end of its tool and of its agent, so a launch alone is quicker than the tables say.
`;
}

/** Empty if only one key exchange was measured. */
function exchanges(costs) {
  const measured = KEY_EXCHANGES.flatMap(({ key, name }) => {
    const own = key === 'default' ? costs : costs[key];
    return own === undefined ? [] : [{ name, own }];
  });
  if (measured.length < 2) return '';
  const processors = [1, 2, 8, 32];
  const rows = measured.map(({ name, own }) => {
    const ahead = processors.map((count) => crossover(own, count, DEFAULT_ARITY) ?? 'never');
    const at = [64, 1000].map((hosts) => [
      seconds(estimate(own.hydra, PROCESSORS, hosts, Infinity).wallMs),
      seconds(estimate(own.ours, PROCESSORS, hosts, DEFAULT_ARITY).wallMs),
    ].join(' / '));
    return `| ${name} | ${own.ssh.starterCpuMs.toFixed(0)} | ${ahead.join(' | ')} | ${at.join(' | ')} |`;
  });
  const heads = [
    'key exchange', 'login: processor at the starter, ms', ...processors.map((count) => `${count} processors`),
    '64 hosts, hydra / ours, s', '1 000 hosts',
  ];
  return `## With a cheaper key exchange

From how many hosts on the tree of arity ${DEFAULT_ARITY} is never slower than hydra's flat start, by processors of
each host, and seconds with ${PROCESSORS} processors. The rest of this page is of OpenSSH's default.

| ${heads.join(' | ')} |
${'|---'.repeat(heads.length)}|
${rows.join('\n')}

`;
}

function checkRow({ hosts, arity, modelMs, simulatedMs }) {
  const deviation = `${((simulatedMs / modelMs - 1) * 100).toFixed(1)} %`;
  return `| ${hosts} | ${arity} | ${seconds(modelMs)} | ${seconds(simulatedMs)} | ${deviation} |`;
}

export function scalingPlot({ hydra, ours }) {
  const counts = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 700, 1000, 1400, 2000, 3000,
    5000, 7000, HOSTS_MAX];
  const line = (name, costs, arity) => {
    return { name, points: counts.map((hosts) => [hosts, estimate(costs, PROCESSORS, hosts, arity).wallMs / 1000]) };
  };
  const series = [
    line('hydra, flat', hydra, Infinity),
    line('ours, flat', ours, Infinity),
    ...[2, 4, 8, 32].map((arity) => line(`ours, arity ${arity}`, ours, arity)),
  ];
  const x = { title: `hosts (${PROCESSORS} processors each)`, ticks: [1, 10, 100, 1000, HOSTS_MAX] };
  const y = { title: 'seconds, computed by the model from measured costs', ticks: [0.1, 1, 10, 100, 1000] };
  return plot(series, { x, y });
}

const seconds = (ms) => (ms / 1000).toFixed(ms < 10_000 ? 2 : 1);
