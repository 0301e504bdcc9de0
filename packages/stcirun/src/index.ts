/** stcirun as a library. */

export { VERSION } from './version.js';
