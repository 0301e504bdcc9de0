/** Detectors as the parameters select them, and what each uses in a session with this overlay, or without one. */

import type { DetectorModule } from '@stci/interface';

/** A detector as it was selected. */
export interface SelectedDetector {
  readonly name: string;
  readonly module: DetectorModule;
  /** Name of a notifier, or `auto`. */
  readonly notifier: string;
  /** False: it runs always. */
  readonly isNamed: boolean;
}

/** The topology of a detector in a session with this overlay; each may be empty. */
export function topologyFor({ followsOverlay, topology }: DetectorModule, overlay: string): string {
  return followsOverlay === true && overlay !== '' ? overlay : topology;
}

/** Name of a detector's notifier in a session with this overlay. */
export function notifierFor({ notifier }: SelectedDetector, overlay: string): string {
  if (notifier !== 'auto') return notifier;
  return overlay === '' ? 'tree' : 'lazy';
}
