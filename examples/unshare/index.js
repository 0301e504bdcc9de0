// @ts-check
/**
 * Launcherproc component `unshare`: each root agent runs on this machine in Linux namespaces of its own, under its
 * host's name. When the agent ends, the kernel ends everything that was started in its namespace, daemons too.
 */

import { accept, decline, defineComponent, launcherprocFramework } from '@stci/core/component';
import { createUnshare } from './unshare.js';

export const launcherUnshare = defineComponent({
  framework: launcherprocFramework,
  name: 'unshare',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Agents on this machine, each in process, mount and hostname namespaces of its own.',
  params: {
    command: {
      type: 'string',
      default: 'unshare',
      help: 'The program that makes namespaces (util-linux), as a path or as PATH finds it.',
    },
    options: {
      type: 'list',
      default: [],
      help: 'Further options for it, such as --net, by which the agent has no network at all, or --ipc.',
    },
  },
  query: ({ named }) => (named === true ? accept(10, 'selected by name') : decline('only by name')),
  create: (deps, params) => createUnshare(deps, String(params['command']), /** @type {string[]} */ (params['options'])),
});
