/**
 * Makes dist/bundle/: one CommonJS file for each program (stcirun, stci, the agent), so that a start reads one file
 * instead of hundreds. Then V8's code cache of each: bin/start.cjs hands it to V8 where version and flags agree.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(here, 'dist/bundle');

rmSync(out, { recursive: true, force: true });
await build({
  absWorkingDir: here,
  entryPoints: {
    stcirun: 'dist/main-stcirun.js',
    stci: 'dist/main-stci.js',
    agent: 'dist/agent-main.js',
  },
  outdir: out,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  sourcemap: 'linked',
  logLevel: 'warning',
});
