/** What any test file needs, without the compliance suites and what those load. */

export * as assert from './assert.js';
export { patient } from './patience.js';
export { DEFAULT_TIMEOUT_MS, eventually, withDeadline } from './deadline.js';
export type { EventuallyOptions } from './deadline.js';
export { skip } from './running-test.js';
export { collectTests, collectTestsOf, suite } from './suite.js';
export { isFullSwarm, swarmSeeds, swarmTotal } from './swarm-seeds.js';
export type { CollectedTest, Hook, StepOptions, TestApi, TestBody } from './suite.js';
export { seeded, seededIntegers, type IntegerSource, type Seeded } from './seeded.js';
