export * from './config/index.js';
export * from './job/index.js';
export * from './mca/index.js';
export * from './component.js';
