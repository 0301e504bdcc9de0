/** Where and how the runner is started for each condition: another Node, clones at other places, another user. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Condition } from './options.js';
import type { Commands } from './commands.js';

export interface Place {
  /** Root of the clone whose tests are run. */
  readonly root: string;
  /** A directory in which the tests' user can write. */
  readonly scratch: string;
  readonly env: NodeJS.ProcessEnv;
  /** Comes before the runner's command line. */
  readonly prefix: readonly string[];
  readonly node: string;
}

/** Makes them when they are asked for first, and removes them at the end. */
export class Places {
  readonly #root: string;
  readonly #commands: Commands;
  readonly #node: string | undefined;
  readonly #made = new Map<Condition, Promise<Place>>();
  readonly #directories: string[] = [];

  constructor(root: string, commands: Commands, node: string | undefined) {
    [this.#root, this.#commands, this.#node] = [root, commands, node];
  }

  /** Rejects with what could not be made. */
  of(condition: Condition): Promise<Place> {
    const made = this.#made.get(condition) ?? this.#make(condition);
    this.#made.set(condition, made);
    return made;
  }

  remove(): void {
    for (const directory of this.#directories) rmSync(directory, { recursive: true, force: true });
  }

  async #make(condition: Condition): Promise<Place> {
    switch (condition) {
      case 'node': {
        const node = this.#node === undefined ? await this.#newestNode() : resolve(this.#node);
        const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}` };
        return { ...this.#here(), env, node };
      }
      case 'blank':
        return this.#clone(join(this.#directory(join(tmpdir(), 'stci-flakes-')), 'a blank'));
      case 'root':
        return this.#clone(this.#directory('/stci-flakes-'));
      case 'user':
        return this.#user();
      default:
        return this.#here();
    }
  }

  #here(): Place {
    const scratch = this.#directory(join(tmpdir(), 'stci-flakes-'));
    return { root: this.#root, scratch, env: process.env, prefix: [], node: process.execPath };
  }

  #directory(prefix: string): string {
    const directory = mkdtempSync(prefix);
    this.#directories.push(directory);
    return directory;
  }

  async #newestNode(): Promise<string> {
    const directory = this.#directory(join(tmpdir(), 'stci-flakes-'));
    const printed = await this.#commands.run([join(this.#root, 'scripts/lib/newest-node.sh'), directory]);
    return join(printed.trimEnd().split('\n').at(-1) ?? '', 'node');
  }

  async #clone(scratch: string): Promise<Place> {
    const root = join(scratch, 'stci');
    mkdirSync(scratch, { recursive: true });
    await this.#commands.run(['git', 'clone', '--quiet', this.#root, root]);
    await this.#commands.run(['npm', 'run', 'setup'], { cwd: root });
    return { root, scratch, env: process.env, prefix: [], node: process.execPath };
  }

  async #user(): Promise<Place> {
    const work = this.#directory(join(tmpdir(), 'stci-flakes-'));
    chmodSync(work, 0o711);
    const prefix = [join(this.#root, 'scripts/lib/as-user.sh'), work];
    await this.#commands.run([...prefix, 'npm', 'run', 'setup']);
    const scratch = join(work, 'user');
    return { root: join(scratch, 'stci'), scratch, env: process.env, prefix, node: process.execPath };
  }
}
