#!/bin/sh
':' //; STCI_CLOSED_STREAMS=none; for fd in 1 2; do [ -e /proc/$$/fd/$fd ] || STCI_CLOSED_STREAMS=$STCI_CLOSED_STREAMS$fd; done; read -r STCI_START_STAT 2>/dev/null </proc/$$/stat; export STCI_CLOSED_STREAMS STCI_START_STAT; exec node "$0" "$@"
/**
 * stcirun. Run as a program it is a shell for one line, which tells what Node hides: standard streams that are closed,
 * signals that are ignored.
 *
 * Where the command line is surely a run on this machine, the first agent's process is started before
 * anything else, so that the two starts overlap; src/run/prestarted-agent.ts takes it over. Where that cannot be seen at a
 * glance (parameters, other launchers, batch jobs, variables that Node itself reads) the agent is started later as any other.
 */
'use strict';

const NO_RUN = /^-(h|H|V|-?(help|version|dry-run|launcher|session|detach|alloc|mca|am|host|machinefile|nodelist))/u;

/** Of batch systems, whose jobs have hosts of their own, and STCI's. */
const NO_PLAIN = /^(NODE_.*|STCI_MCA_.*|STCI_SESSION|SLURM_JOB_ID|PBS_NODEFILE|LSB_DJOB_HOSTFILE)$/u;

const words = process.argv.slice(2);
const plain = !Object.keys(process.env).some((name) => NO_PLAIN.test(name));
if (words.length > 0 && plain && !words.some((word) => NO_RUN.test(word))) {
  const bundle = `${__dirname}/../dist/bundle`;
  const agent = [process.execPath, `${bundle}/agent.cjs`, 'ahead'];
  // The shell makes the agent's guardian before it becomes the agent. Below a tool of another run it does not: its
  // guardian would carry the mark of that run's tools, and end with them instead of after them.
  if (process.env.STCI_GUARD === undefined) agent.unshift('/bin/sh', `${bundle}/agent.sh`);
  const [program, ...args] = agent;
  const child = require('node:child_process').spawn(program, args, { stdio: 'pipe', detached: true });
  // One that could not be started is not taken; the next attempt tells why.
  child.on('error', () => undefined);
  const key = Symbol.for('stci.prestartedAgent');
  globalThis[key] = child;
  // Whoever takes it over takes it away here; one that nobody took is ended however this process exits.
  process.on('exit', () => globalThis[key]?.kill('SIGKILL'));
}
require('../dist/bundle/stcirun.cjs');
