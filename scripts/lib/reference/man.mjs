/** Manual pages, from the tables of options, commands, parameters and exit codes that the reference is made from. */

import { EXIT } from '../../../packages/interface/dist/index.js';
import {
  ABOUT, CALLS, CLIENT_EXITS, INPUT, CLIENT_OPTIONS, optionHelp, optionText, usage,
} from '../../../packages/client/dist/command/call-table.js';
import { FLAG_NAMES, GROUPS, OPTION_FACTS } from '../../../packages/stcirun/dist/cli/flags.js';
import { EXAMPLES, INTRODUCTION, SYNOPSIS, stcirunRow } from '../../../packages/stcirun/dist/cli/help.js';
import { optionRows, rowSyntax } from '../../../packages/stcirun/dist/cli/option-rows.js';
import { STCI } from '../../../packages/stcirun/dist/stci/commands.js';
import { VERSION } from '../../../packages/stcirun/dist/process/version.js';
import { FINJECT } from '../../../packages/finject-cli/dist/commands.js';
import { exitCodes } from './errors.mjs';
import { capital } from './markdown.mjs';
import { fromMarkdown, item, literal, manual, paragraph, section, subsection, title } from './roff.mjs';
import { parametersDocument } from './parameters.mjs';

const RUN = 'packages/stcirun/man';
const INJECT = 'packages/finject-cli/man';
const CLIENT = 'packages/client/man';
export const MANUALS = [RUN, INJECT, CLIENT];

/** Path from the root of the repository → text. */
export function manualPages(root, registry) {
  return [
    [`${RUN}/stcirun.1`, stcirunManual(root)],
    [`${RUN}/stci.1`, commandsManual(STCI, 'sessions, hosts, components and parameters', ['stcirun(1)', 'finject(1)'])],
    [`${RUN}/stci.conf.5`, parametersManual(registry)],
    [`${INJECT}/finject.1`, commandsManual(FINJECT, 'experiments on resilience', ['stcirun(1)', 'stci(1)'])],
    [`${CLIENT}/stci-client.1`, clientManual()],
  ];
}

function stcirunManual(root) {
  const groups = GROUPS.map((group) => [group, FLAG_NAMES.filter((name) => OPTION_FACTS[name].group === group)]);
  return manual([
    ...title('stcirun', 1, VERSION),
    ...section('Name', ['stcirun \\- runs a program as many ranks on one or more hosts']),
    ...section('Synopsis', literal(SYNOPSIS)),
    ...section('Description', paragraph(INTRODUCTION)),
    ...section('Options', groups.flatMap(([group, names]) =>
      subsection(group, names.map(stcirunRow).flatMap(option)))),
    ...section('Exit status', [
      ...paragraph('0 if all ranks end with 0, else that of the rank that failed first (128 + signal if it was '
        + 'killed); above 192 it is that of stcirun itself:'),
      ...exitCodes(root).flatMap(([exitCode, , meaning]) => item(String(exitCode), meaning)),
    ]),
    ...section('Environment', [
      ...item('STCI_MCA_NAME', 'a parameter; _ in its name stands for a dot'),
      ...item('STCI_SESSION', 'the session in which jobs run where --session is not given'),
      ...item('NO_COLOR', 'no colours, unless --color is given'),
      ...item('STCI_DEBUG', '1 shows codes and causes of errors'),
    ]),
    ...section('Examples', literal(EXAMPLES)),
    ...section('See also', paragraph('stci(1), stci.conf(5), finject(1), stci-client(1)')),
  ]);
}

function commandsManual({ bin, about, commands }, purpose, more) {
  return manual([
    ...title(bin, 1, VERSION),
    ...section('Name', [`${bin} \\- ${purpose}`]),
    ...section('Synopsis', literal(`${bin} COMMAND [arguments]\n${bin} help [COMMAND]`)),
    ...section('Description', paragraph(about)),
    ...section('Commands', Object.entries(commands).flatMap(([name, command]) => {
      const { summary = '', synopsis, details, args = {}, flags } = command;
      return subsection(`${bin} ${name} ${synopsis}`.trim(), [
        ...paragraph(`${capital(summary)}.`),
        ...Object.entries(args).flatMap(([word, { description = '' }]) => item(word.toUpperCase(), description)),
        ...optionRows(flags).flatMap(option),
        ...(details.trim() === '' ? [] : literal(details.trim())),
      ]);
    })),
    ...section('Exit status', paragraph(`0, or an exit code of STCI from ${EXIT.usage} on: see stcirun(1).`)),
    ...section('See also', paragraph([...more, 'stci.conf(5)'].join(', '))),
  ]);
}

function clientManual() {
  return manual([
    ...title('stci-client', 1, VERSION),
    ...section('Name', ['stci\\-client \\- lets a rank take part in its job from a shell']),
    ...section('Synopsis', literal('stci-client CALL [arguments]\nstci-client help [CALL]')),
    ...section('Description', [...paragraph(ABOUT), ...paragraph(INPUT)]),
    ...section('Calls', Object.entries(CALLS).flatMap(([name, { help }]) => item(usage(name), help))),
    ...section('Options', Object.keys(CLIENT_OPTIONS).flatMap((name) => item(optionText(name), optionHelp(name)))),
    ...section('Exit status', CLIENT_EXITS.flatMap(([exitCode, meaning]) => item(String(exitCode), meaning))),
    ...section('Examples', literal('stcirun --client -n 4 sh -c \'date | stci-client send 0; stci-client barrier\'')),
    ...section('See also', paragraph('stcirun(1)')),
  ]);
}

function option(row) {
  const values = row.values === undefined ? '' : `; one of ${row.values.join(', ')}`;
  return item(rowSyntax(row), `${row.help}${values}${row.isRepeated ? '; may be repeated' : ''}`);
}

function parametersManual(registry) {
  const [, body = ''] = parametersDocument(registry).split(/^# Parameters\n/m);
  return manual([
    ...title('stci.conf', 5, VERSION),
    ...section('Name', ['stci.conf \\- parameters of STCI, and the files that set them']),
    ...section('Description', fromMarkdown(body.trim(), parameterRow)),
    ...section('See also', paragraph('stcirun(1), stci(1)')),
  ]);
}

/** A row of parameters has six cells; others are a name and its meaning. */
function parameterRow([name, type, bounds, value, scope, meaning]) {
  const tag = name.replaceAll('`', '');
  if (meaning === undefined) return item(tag, type);
  const facts = [type, bounds, `default ${value}`, `of the ${scope}`].filter((text) => text !== '');
  return item(tag, `${facts.join('; ')}.\n${meaning}`);
}
