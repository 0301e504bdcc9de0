/** `stci plugin check`: what is wrong with a plugin's package, and what to do about it. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { dirname } from 'node:path';
import { counted } from '@stci/core';
import { ERROR_KINDS } from '@stci/interface';
import { frontEndRegistry } from '../assembly/front-end-registry.js';
import type { CheckReport } from '../plugin/check/check-plugin.js';
import { foldFindings } from '../plugin/check/fold-findings.js';
import { MANIFEST_FILE } from '../plugin/find.js';
import { jsonText, printOut } from '../process/print.js';
import { callerDirectory, resolveFrom } from '../files/caller-directory.js';
import { commonFlags, StciCommand } from './base.js';

export class PluginCheckCommand extends StciCommand {
  static override readonly summary = 'what is wrong with the package of a plugin, and what to do about it';
  static override readonly synopsis = 'PATH [--compliance] [--fix] [--json]';
  static override readonly page = 'plugins.md';
  static override readonly details = `
With --fix, what the code declares of help, parameters and arguments is written into package.json first, where that is
missing there or differs; the rest of the file stays as it is.
Reads package.json, owners and modes, sizes, names, imports; then loads each component in a process of its own, asks it
and makes it with default parameters. With --compliance its framework's suite runs, with default parameters, and the
package's test.js, if it is linked with STCI (stci plugin new): some seconds. Exit code 0: nothing is wrong but what
warnings say.

Examples:
  stci plugin check ./my-topology
  stci plugin check ./my-topology --compliance
  stci plugin check ./my-topology --fix
`;

  static override args = {
    path: Args.string({ required: true, ignoreStdin: true, description: 'the directory of the package' }),
  };
  static override flags = {
    compliance: Flags.boolean({ description: 'runs the compliance suite, too' }),
    fix: Flags.boolean({ description: "writes the code's help and parameters into package.json" }),
    json: commonFlags.json,
  };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(PluginCheckCommand);
    const path = resolveFrom(callerDirectory(), args.path, 'PATH');
    const { checkPlugin } = await import('../plugin/check/check-plugin.js');
    // Programs are in dist/bundle of the package.
    const root = dirname(dirname(this.config.root));
    const { compliance, fix } = flags;
    const report = await checkPlugin({ path, registry: frontEndRegistry(), compliance, fix, root });
    const shown = { ...report, path: args.path };
    printOut(flags.json ? jsonText(report) : reportText(shown, compliance));
    const isWrong = report.findings.some(({ level }) => level === 'error');
    return isWrong ? ERROR_KINDS.STCI_PLUGIN_INVALID.exitCode : 0;
  }
}

/** What --fix would mend. */
const FIXABLE = / differ in (?:help|params|args)|\.components\[\d+\]\.(?:help|params|args)\b/u;

function reportText({ path, findings, passed, ...report }: CheckReport, compliance: boolean): string {
  const { name, version, api } = report.package ?? {};
  const size = report.files === undefined ? '' : `, ${counted(report.files, 'file')}, ${report.bytes} bytes`;
  const head = name === undefined ? `${path}\n` : `${path}: ${name} ${version}, API ${api}${size}\n`;
  const components = report.components.map((one) => `  ${one}\n`).join('');
  const { shown, rest } = foldFindings(findings);
  const lines = shown.map(({ finding: { level, file, text }, more }) =>
    `${level}: ${file}: ${text}\n${more === 0 ? '' : `    and ${more} more like it\n`}`);
  if (rest > 0) lines.push(`and ${counted(rest, 'more finding')}: --json has all\n`);
  if (report.fixed === undefined && findings.some(({ text }) => FIXABLE.test(text))) {
    lines.push(`--fix writes help, parameters and arguments of the code into ${MANIFEST_FILE}\n`);
  }
  const fixed = report.fixed?.map((text) => `wrote into ${MANIFEST_FILE}: ${text}\n`).join('') ?? '';
  const errors = findings.filter(({ level }) => level === 'error').length;
  const untested = errors === 0 ? '. With --compliance its suite runs, too' : '';
  const suites = compliance ? `, ${counted(passed, 'test')} of compliance passed` : untested;
  const warnings = counted(findings.length - errors, 'warning');
  return `${head}${components}${fixed}${lines.join('')}${counted(errors, 'error')}, ${warnings}${suites}\n`;
}
