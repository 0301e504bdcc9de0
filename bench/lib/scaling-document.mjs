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

Seconds for a whole \`-n N true\` on N hosts with ${PROCESSORS} processors each, as on the measured machine.
Hydra starts flat, as pdsh does. The fastest of our columns is bold.

Table and plot are computed by the model below from the costs of one start; launches of this size were not measured.

![Seconds over hosts, computed by the model](scaling.svg)

${timeTable(costs)}
## Depth, messages, work of the front-end

Arity ${DEFAULT_ARITY}. Messages: each agent's report on every link upwards, and the job on every link downwards.
Processor seconds are of the front-end's host.

${workTable(costs)}
## Which arity

${arityTable(costs)}
${conclusion(costs)}
${exchanges(costs)}## The model and its validity

An agent begins to start its children when it is up; the interval of its starts is the larger of a start's processor
time divided by the host's processors and its time in the agent's own thread; each child is up a constant time after
its start; at most \`launcher.window\` starts are concurrent; the controller handles one report after another
(\`bench/lib/launch-model.mjs\`). The real agents' code, started on simulated hosts by a login of that length,
agrees with the model:

| hosts | arity | model, s | simulated, s | deviation |
|---|---|---|---|---|
${checks.map(checkRow).join('\n')}

The simulation has no processors: it checks the order and overlap of starts, windows and messages, not the constants.
The network is assumed to be fast, hosts to be alike, and nothing to fail; a slow network lengthens each login, which
costs a tree once per level and a flat start once. Hydra is modelled without limits on open files or concurrent logins.
`;
}

function intro({ machine, date, rounds, othersPercent }) {
  return `# Scaling

Duration of a launch on many separate hosts, computed from the costs of one start. \`npm run bench -- costs\`
measures these on test hosts of this machine, \`npm run bench -- scaling\` computes this page and its plot (neither is
edited by hand), \`npm run bench -- launch\` compares whole launches with those of peers, all hosts sharing two
processors; see [speed.md](speed.md).

Measured on ${date}: ${machine}; medians of ${rounds}, in turns. Other work used at most
${othersPercent.toFixed(0)} % of the processors while wall times were taken. Milliseconds:
`;
}

function costTable({ ssh, hydra, ours }) {
  const row = (name, ...cells) => `| ${name} | ${cells.map((cell) => (cell === undefined ? '–' : cell)).join(' | ')} |`;
  const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
  return [
    row('', '`ssh host true`', 'hydra', 'ours'),
    '|---|---|---|---|',
    row('one host, in total', ms(ssh.wallMs), ms(hydra.fixedMs + hydra.childMs), ms(ours.fixedMs + ours.childMs)),
    row('one more level: from the start of a child until it is up', '–', '–', ms(ours.childMs)),
    row('processor at the starting host, a child', ms(ssh.starterCpuMs), ms(hydra.starterCpuMs), ms(ours.starterCpuMs)),
    row('of that in the starting agent\'s thread', '–', ms(hydra.starterThreadMs), ms(ours.starterThreadMs)),
    row('processor at the started host', ms(ssh.hostCpuMs), ms(hydra.hostCpuMs), ms(ours.hostCpuMs)),
    row('processor at the controller, per host started by another', '–', '–', ms(ours.reportMs)),
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
 * The best arity by processors per host at some sizes, how much worse the default is, and from which size hydra is
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
    `By processors per host: the fastest of ${ARITIES.join(', ')} and flat;`,
    `in brackets how much longer the default, ${DEFAULT_ARITY}, takes.`,
    'Last column: the number of hosts from which on the default is faster than hydra\'s flat start.',
    '',
    `| processors | ${sizes.map((hosts) => `${hosts} hosts`).join(' | ')} | faster than hydra from |`,
    '|---'.repeat(sizes.length + 2) + '|',
    ...rows,
    '',
  ].join('\n');
}

function conclusion(costs) {
  const worst = (arity) => Math.max(...[64, 256, 1000, 5000, HOSTS_MAX].map((hosts) =>
    estimate(costs.ours, PROCESSORS, hosts, arity).wallMs / best(costs.ours, PROCESSORS, hosts).wallMs));
  const shown = [4, 6, 8, 12, 16, 24, 32].map((arity) => `${arity}: ${((worst(arity) - 1) * 100).toFixed(0)} %`);
  return `Largest excess of each arity over the best one, among 64, 256, 1 000, 5 000 and 10 000 hosts with
${PROCESSORS} processors each: ${shown.join(', ')}.

A level costs a login and the start of an agent, a child costs its ssh client's processor time: with few processors
narrow trees are faster, with many processors wide ones. ${DEFAULT_ARITY} is within the window of concurrent
starts (\`launcher.window\`), loses little with few processors at any size, and gives each agent few links to watch:
it is the default. If hosts have many processors, say 16, \`--mca launcher.tree.arity=24 --mca launcher.window=24\`
is faster for hundreds of hosts; hydra's flat start remains faster up to larger sizes there, since a tree saves only
the work of the single starting host.

Limits: with few hosts the time of one start, most of it the login; from some thousand hosts on the controller,
which needs ${costs.ours.reportMs.toFixed(1)} ms of processor time per host. That figure is of a whole job,
including the end of its tool and agent, so a launch alone is faster than in the tables.
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
    const fasterFrom = processors.map((count) => crossover(own, count, DEFAULT_ARITY) ?? 'never');
    const at = [64, 1000].map((hosts) => [
      seconds(estimate(own.hydra, PROCESSORS, hosts, Infinity).wallMs),
      seconds(estimate(own.ours, PROCESSORS, hosts, DEFAULT_ARITY).wallMs),
    ].join(' / '));
    return `| ${name} | ${own.ssh.starterCpuMs.toFixed(0)} | ${fasterFrom.join(' | ')} | ${at.join(' | ')} |`;
  });
  const heads = [
    'key exchange', 'login: processor at the starting host, ms', ...processors.map((count) => `${count} processors`),
    '64 hosts, hydra / ours, s', '1 000 hosts',
  ];
  return `## With a cheaper key exchange

Number of hosts from which on the tree of arity ${DEFAULT_ARITY} is never slower than hydra's flat start, by processors
per host, and seconds with ${PROCESSORS} processors. The rest of this page is with OpenSSH's default.

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
