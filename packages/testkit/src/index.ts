/**
 * Interface for tests: suites that cannot pass by accident, assertions, deadlines instead of sleeps. Every test file of
 * the workspace uses this package and no other test library, so that only what all of them need is loaded here:
 * compliance suites are `@stci/testkit/compliance`.
 */

export * from '@stci/compliance/basics';
export { killThose } from './ended.js';
export { mutatedBytes } from './mutated-bytes.js';
export { findBrowser, renderPage, takePicture, type BrowserOptions, type PageRun } from './browser.js';
