/** Kinds of faults: components of framework `fault`. Experiments are in `@stci/finject/experiment`. */

export { faultComponents } from './faults/index.js';
