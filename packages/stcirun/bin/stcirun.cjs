#!/usr/bin/env node
/**
 * stcirun. Where the command line is surely a run on this machine, the first agent's process is started before
 * anything else, so that the two starts overlap; src/run/prestarted-agent.ts takes it over. Where that cannot be seen at a
 * glance (parameters, other launchers, variables that Node itself reads) the agent is started later as any other.
 */
'use strict';

const NO_RUN = /^-(h|V|-(help|version|dry-run|launcher|mca|am|host))/u;

const words = process.argv.slice(2);
const plain = !Object.keys(process.env).some((name) => name.startsWith('NODE_') || name.startsWith('STCI_MCA_'));
if (words.length > 0 && plain && !words.some((word) => NO_RUN.test(word))) {
  const agent = [`${__dirname}/../dist/bundle/agent.cjs`, 'ahead'];
  const child = require('node:child_process').spawn(process.execPath, agent, { stdio: 'pipe', detached: true });
  // One that could not be started is not taken; the next attempt tells why.
  child.on('error', () => undefined);
  globalThis[Symbol.for('stci.prestartedAgent')] = child;
}
require('../dist/bundle/stcirun.cjs');
