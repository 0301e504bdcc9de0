/**
 * Whether this is the process's main thread, without node:worker_threads, whose load costs an agent 2 ms. Node replaces
 * the calls that would end or change the whole process in its worker threads, and marks them so.
 */

export const isMainThread = (process.abort as { readonly disabled?: boolean }).disabled !== true;
