/**
 * The registry: parameters (catalogue, sources, resolver, result) and the modular component architecture ("mca":
 * frameworks, components, selection, description). Without the container, which is loaded late.
 */

export type { ParamGroup, ParamRule } from './config/catalog.js';
export { formatDuration } from './config/duration.js';
export { didYouMean, nearest } from './config/nearest.js';
export {
  createParams, paramsFromSnapshot, paramsSnapshot, withJobParams, withParams, withResolved,
  type ParamSnapshot,
} from './config/params.js';
export { listed, plain, quote } from './config/problems.js';
export { relationRule, type ParamRelation } from './config/relations.js';
export { resolveParams, type Resolution } from './config/resolve.js';
export {
  ENVIRONMENT_PREFIX, environmentName, fileTexts, paramFilePaths, type ParamFile, type ParamInputs,
} from './config/sources.js';
export { alignColumns, counted, cut, wrapText } from './config/text.js';
export { expectedForm, formatBounds, formatValue, parseValue, valueProblem } from './config/values.js';
export { splitWords } from './config/words.js';
export { paramProblem } from './mca/build-catalog.js';
export {
  describe, parseInfoTarget, type ConfigFile, type DescribeOptions, type Info, type InfoFramework,
} from './mca/info.js';
export { infoOverview, infoText } from './mca/info-text.js';
export { createRegistry, type Registry, type RegistryInit } from './mca/registry.js';
export { createSelector, type Selector } from './mca/selector.js';
export { token } from './mca/token.js';
