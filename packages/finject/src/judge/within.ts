/**
 * A regular expression may take forever on a text that its target has written. JavaScript has no means against it of
 * its own; whoever runs experiments gives one.
 */

/** Runs something that ends by itself within `limitMs`, or is ended: then undefined. It returns something else. */
export type Within = <T>(limitMs: number, run: () => T) => T | undefined;

/** Without a limit: for histories that are one's own. */
export const unlimited: Within = (_limitMs, run) => run();
