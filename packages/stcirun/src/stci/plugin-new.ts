/** `stci plugin new`: the package of a new plugin, from a template. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { basename, dirname, join, relative } from 'node:path';
import { frontEndRegistry } from '../assembly/front-end-registry.js';
import { printOut } from '../process/print.js';
import { callerDirectory, resolveFrom } from '../files/caller-directory.js';
import { StciCommand } from './base.js';

export class PluginNewCommand extends StciCommand {
  static override readonly summary = 'makes the package of a new component, with a test that runs its compliance suite';
  static override readonly synopsis = 'FRAMEWORK NAME [--dir DIRECTORY] [--typescript]';
  static override readonly page = 'plugins.md';
  static override readonly details = `
FRAMEWORK: topology, launcher, launcherproc, detector, notifier, errmgr, fault or service. The component is called as
the package, without what is neither a letter nor a digit: my-topology has topology:mytopology. It works at once.

Examples:
  stci plugin new topology my-topology
  stci info topology:mytopology --plugin ./my-topology
`;

  static override args = {
    framework: Args.string({ required: true, ignoreStdin: true, description: 'what it is a component of' }),
    name: Args.string({ required: true, ignoreStdin: true, description: 'of the package, as npm has names' }),
  };
  static override flags = {
    dir: Flags.string({ helpValue: 'DIRECTORY', description: 'to be made; default: NAME, here' }),
    typescript: Flags.boolean({
      exclusive: ['javascript'], description: 'TypeScript, which npm run build compiles',
    }),
    javascript: Flags.boolean({ description: 'JavaScript with types in comments, the default' }),
  };

  async run(): Promise<void> {
    const { args: { framework, name }, flags } = await this.parse(PluginNewCommand);
    const wdir = callerDirectory();
    const directory = resolveFrom(wdir, flags.dir ?? basename(name), '--dir');
    const taken = (): readonly string[] => frontEndRegistry([]).components(framework).map(({ name: one }) => one);
    // Programs are in dist/bundle of the package.
    const root = dirname(dirname(this.config.root));
    const { makePlugin } = await import('../plugin/new-plugin.js');
    const { component, files } = makePlugin({
      framework, name, directory, isTypeScript: flags.typescript, root, taken,
    });
    const shown = wdir === undefined ? directory : `./${relative(wdir, directory)}`;
    printOut(`${framework}:${component} of package ${name}, in ${directory}\n`
      + files.map((file) => `  ${join(shown, file)}\n`).join('')
      + `try:   stci info ${framework}:${component} --plugin ${shown}\n`
      + `check: stci plugin check ${shown} --compliance\n`);
  }
}
