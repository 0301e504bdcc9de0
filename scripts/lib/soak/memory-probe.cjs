// Loaded into the session's process: on SIGUSR2 it collects garbage and writes what is left to $STCI_SOAK_PROBE.
const { writeFileSync, renameSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const file = process.env.STCI_SOAK_PROBE;
process.on('SIGUSR2', () => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
  renameSync(`${file}.new`, file);
});
