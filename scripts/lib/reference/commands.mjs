/** docs/reference/commands.md, from the tables of options and commands. */

import {
  ABOUT, CALLS, CLIENT_EXITS, INPUT, CLIENT_OPTIONS, optionHelp, optionText, usage,
} from '../../../packages/client/dist/command/call-table.js';
import { FLAG_NAMES, GROUPS, OPTION_FACTS } from '../../../packages/stcirun/dist/cli/flags.js';
import { optionParameter } from '../../../packages/stcirun/dist/cli/defaults.js';
import { stcirunRow } from '../../../packages/stcirun/dist/cli/help.js';
import { optionRows, rowSyntax } from '../../../packages/stcirun/dist/cli/option-rows.js';
import { synonymsOf } from '../../../packages/stcirun/dist/cli/peers.js';
import { STCI } from '../../../packages/stcirun/dist/stci/commands.js';
import { FINJECT } from '../../../packages/finject-cli/dist/commands.js';
import { anchor, capital, code, page, table } from './markdown.mjs';

const INTRODUCTION = 'Options of stcirun are explained in [../cli.md](../cli.md), with how a command line is read.';

export function commandsPage() {
  return page('Commands', INTRODUCTION, [
    '## stcirun', '',
    '`stcirun [options] [--] program [arguments] [: [options] program [arguments]]...`', '',
    '*Also written* are the words of other launchers that mean the same; *default from* is the parameter by which a',
    'configuration file gives the option.', '',
    ...GROUPS.flatMap(group),
    ...tableOfCommands(STCI),
    ...tableOfCommands(FINJECT),
    ...clientLines(),
  ]);
}

function clientLines() {
  const calls = Object.entries(CALLS).map(([name, { help }]) => [code(usage(name)), help]);
  const options = Object.keys(CLIENT_OPTIONS).map((name) => [code(optionText(name)), optionHelp(name)]);
  return [
    '## stci-client', '', oneLine(ABOUT), '', oneLine(INPUT), '',
    ...table(['call', 'what it does'], calls), '', ...table(['option', 'meaning'], options), '',
    ...table(['exit code', 'meaning'], CLIENT_EXITS), '',
    'More: [client-languages.md](../client-languages.md).', '',
  ];
}

function oneLine(text) {
  return text.replaceAll('\n', ' ');
}

function group(title) {
  const rows = FLAG_NAMES.filter((name) => OPTION_FACTS[name].group === title).map((name) => {
    const syntax = rowSyntax(stcirunRow(name));
    const words = synonymsOf(name).map(code).join(', ');
    const parameter = optionParameter(name);
    const scope = OPTION_FACTS[name].scope === 'program' ? '; for each program' : '';
    return [
      `[${code(syntax)}](../cli.md#${anchor(syntax)})`, facts(stcirunRow(name)) + scope, words,
      parameter === undefined ? '' : code(parameter),
    ];
  });
  return [`### ${title}`, '', ...table(['option', 'meaning', 'also written', 'default from'], rows), ''];
}

function facts({ help, values, isRepeated }) {
  const of = values === undefined ? '' : `; one of ${values.join(', ')}`;
  return `${help}${of}${isRepeated ? '; may be repeated' : ''}`;
}

function tableOfCommands({ bin, about, commands }) {
  return [
    `## ${bin}`, '', about, '',
    ...Object.entries(commands).flatMap(([name, command]) => commandLines(`${bin} ${name}`, command)),
  ];
}

function commandLines(name, { summary = '', synopsis, details, page: more, args = {}, flags }) {
  const rows = [
    ...Object.entries(args).map(([word, { description = '' }]) => [code(word.toUpperCase()), description]),
    ...optionRows(flags).map((row) => [code(rowSyntax(row)), facts(row)]),
  ];
  const text = details.trim();
  return [
    `### ${name}`, '', `${capital(summary)}.`, '', '```text', `${name} ${synopsis}`.trim(), '```', '',
    ...(rows.length === 0 ? [] : [...table(['', 'meaning'], rows), '']),
    ...(text === '' ? [] : ['```text', text, '```', '']),
    ...(more === '' ? [] : [`More: [${more}](../${more}).`, '']),
  ];
}
