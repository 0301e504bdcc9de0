/** `stci completion`: the completion script of a shell. */

import { dirname } from 'node:path';
import * as Args from '@oclif/core/args';
import { didYouMean } from '@stci/core';
import { StciError } from '@stci/interface';
import { printOut } from '../process/print.js';
import { StciCommand } from './base.js';

export class CompletionCommand extends StciCommand {
  static override readonly summary = 'prints the completion script of a shell, for all commands of STCI';
  static override readonly synopsis = 'bash|zsh|fish';
  static override readonly page = 'completion.md';
  static override readonly details = `
Load it from the shell's own file of settings, or write it to where the shell looks for such.

Examples:
  source <(stci completion bash)                      in ~/.bashrc
  source <(stci completion zsh)                       in ~/.zshrc, behind compinit
  stci completion fish | source                       in ~/.config/fish/config.fish
`;

  static override args = { shell: Args.string({ ignoreStdin: true, description: 'bash, zsh or fish' }) };

  async run(): Promise<void> {
    const { args } = await this.parse(CompletionCommand);
    const { completionScript, SHELLS } = await import('../complete/scripts.js');
    const shell = SHELLS.find((one) => one === args.shell);
    if (shell === undefined) {
      const given = args.shell === undefined ? 'No shell is named' : `There is no completion for '${args.shell}'`;
      const near = args.shell === undefined ? '' : didYouMean(args.shell, SHELLS);
      throw new StciError('STCI_USAGE', `${given}.${near} Write: stci completion bash, zsh or fish.`);
    }
    printOut(completionScript(shell, dirname(process.argv[1] ?? '')));
  }
}
