#!/usr/bin/env node
'use strict';
require('../dist/bundle/stci.cjs');
