/**
 * Whether this is the process's main thread, determined without node:worker_threads, whose load costs an agent 2 ms: in
 * worker threads Node replaces the calls that would end or change the whole process, and marks the replacements.
 */

export const isMainThread = (process.abort as { readonly disabled?: boolean }).disabled !== true;
