/** Writes plugins as their authors do: packages of plain JavaScript with a manifest. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface PackageText {
  readonly components?: readonly Readonly<Record<string, unknown>>[];
  /** Members of package.json besides. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** By path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** An error manager's record, its own members behind. */
export const MANAGER = `import { accept, defineComponent, detectorFramework, errmgrFramework, topologyFramework }
  from '@stci/core/component';
const manager = (more) => defineComponent({ framework: errmgrFramework, name: 'own', version: '1.0.0',
  frameworkVersion: 1, help: 'x', params: {}, query: () => accept(1, 'only by name'),
  create: () => ({ policy: 'own', toleratesFailures: true, decide: () => [{ type: 'go-on' }] }), ...more });
`;

export const OWN_MANAGER = { framework: 'errmgr', name: 'own', module: './index.js', help: 'x' };

export function writePackage(directory: string, text: PackageText): void {
  const { components = [OWN_MANAGER], more = {}, files = {} } = text;
  mkdirSync(directory, { recursive: true });
  const json = { name: 'some-plugin', version: '1.0.0', type: 'module', stci: { api: '^1', components }, ...more };
  for (const [path, text] of Object.entries({ 'package.json': JSON.stringify(json), ...files })) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}
