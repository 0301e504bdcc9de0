/** Parameters: catalogue, sources, resolver, result. */

export type { ParamGroup, ParamRule } from './catalog.js';
export { formatDuration } from './duration.js';
export { didYouMean, nearest } from './nearest.js';
export { jobParamsSnapshot, paramsFromSnapshot, paramsSnapshot, withParams, withResolved } from './params.js';
export type { ParamSnapshot } from './params.js';
export { plain, quote } from './problems.js';
export { resolveParams } from './resolve.js';
export type { Resolution } from './resolve.js';
export { ENVIRONMENT_PREFIX, environmentName, fileTexts, paramFilePaths } from './sources.js';
export type { ParamFile, ParamInputs } from './sources.js';
export { expectedForm, formatBounds, formatValue, parseValue } from './values.js';
export { splitWords } from './words.js';
