/** The compliance suites of `@stci/compliance`, and the models that they run on. */

export * from '@stci/compliance';
