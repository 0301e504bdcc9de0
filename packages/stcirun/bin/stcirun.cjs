#!/bin/sh
':' //; STCI_CLOSED_STREAMS=none; for stci_x in 1 2; do [ -e /proc/$$/fd/$stci_x ] || STCI_CLOSED_STREAMS=$STCI_CLOSED_STREAMS$stci_x; done; read -r STCI_START_STAT 2>/dev/null </proc/$$/stat; export STCI_CLOSED_STREAMS STCI_START_STAT; { IFS=- read -r stci_x stci_y; } 2>/dev/null </proc/sys/kernel/random/uuid && stci_x=$(((0x5355 << 24 | 0x$stci_x & 0xffffff) << 22 | $$)) && { ulimit -S -w $stci_x || ulimit -S -x $stci_x; } 2>/dev/null; exec node "$0" "$@"
/**
 * stcirun. Run as a program it is a shell for one line, which tells what Node hides: standard streams that are closed,
 * signals that are ignored; and which sets the mark that programs cannot lose, for the agent that may live in this
 * process (stci_mark of platform-node/src/processes/process-mark.ts).
 */
'use strict';
require('../dist/bundle/stcirun.cjs');
