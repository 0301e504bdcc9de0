#!/bin/sh
':' //; STCI_START_STAT=$(ulimit -S -w 2>/dev/null || ulimit -S -x 2>/dev/null) || :; case $STCI_START_STAT in '' | *[!0-9]*) STCI_START_STAT=0 ;; esac; case $((STCI_START_STAT >> 46)) in 21332 | 21333) ;; *) { IFS=- read -r STCI_START_STAT STCI_CLOSED_STREAMS; } 2>/dev/null </proc/sys/kernel/random/uuid && STCI_START_STAT=$(((0x5355 << 24 | 0x$STCI_START_STAT & 0xffffff) << 22 | $$)) && { ulimit -S -w "$STCI_START_STAT" || ulimit -S -x "$STCI_START_STAT"; } 2>/dev/null || : ;; esac; STCI_CLOSED_STREAMS=none; for STCI_START_STAT in 1 2; do [ -e "/proc/$$/fd/$STCI_START_STAT" ] || STCI_CLOSED_STREAMS=$STCI_CLOSED_STREAMS$STCI_START_STAT; done; read -r STCI_START_STAT 2>/dev/null </proc/$$/stat || :; export STCI_CLOSED_STREAMS STCI_START_STAT; exec node "$0" "$@"
/**
 * stcirun. Run as a program it is a shell for one line, which tells what Node hides: standard streams that are closed,
 * signals that are ignored; and which sets the mark that programs cannot lose, for the agent that may live in this
 * process (platform-node/src/processes/process-mark.ts), unless it has inherited that of another run, which has to find
 * it. The line has no variables but those two, which are taken away again: any other may be the user's.
 */
'use strict';
require('../dist/bundle/stcirun.cjs');
