#!/usr/bin/env node
/** stci-client; the build makes it (scripts/bundle.mjs). */
'use strict';
require('../dist/stci-client.cjs');
