/** The command line of fault injection: experiments on real sessions, and in simulation. */

export { readExperiment } from './experiment-file.js';
export { RUN_FILES } from './run-files.js';
export { RunView, type RunViewInit } from './run-view.js';
export { prepareTarget, targetShape, type PreparedTarget } from './target.js';
export { simulated, simulatedTargets } from './simulated-target.js';
