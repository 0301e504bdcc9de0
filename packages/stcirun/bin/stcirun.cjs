#!/usr/bin/env node
'use strict';
require('../dist/bundle/stcirun.cjs');
