/**
 * Interface for tests: suites that cannot pass by accident, assertions, deadlines instead of sleeps, and compliance
 * suites, all of which are published as `@stci/compliance`. Every test file of the workspace uses this package and no
 * other test library.
 */

export * from '@stci/compliance';
export { findBrowser, renderPage, takePicture, type BrowserOptions, type PageRun } from './browser.js';
