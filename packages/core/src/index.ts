export * from './job/index.js';
