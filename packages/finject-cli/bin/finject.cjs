#!/bin/sh
':' //; STCI_CLOSED_STREAMS=none; for fd in 1 2; do [ -e /proc/$$/fd/$fd ] || STCI_CLOSED_STREAMS=$STCI_CLOSED_STREAMS$fd; done; export STCI_CLOSED_STREAMS; exec node "$0" "$@"
/** finject. Run as a program it is a shell for one line, which tells what Node hides: standard streams that are closed. */
'use strict';
require('../dist/bundle/finject.cjs');
