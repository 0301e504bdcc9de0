#!/bin/sh
# salloc for tests, without Slurm. FAKE_SALLOC says what it does; what happens is noted in FAKE_SALLOC_DIR.
say() { echo "salloc: $*" >&2; }
note() { echo "$*" >>"$FAKE_SALLOC_DIR/notes"; }
echo $$ >"$FAKE_SALLOC_DIR/pid"
asked=
while [ "$1" != -- ]; do asked="$asked [$1]"; shift; done
# What a TERM does is settled before it is told that it runs.
case $FAKE_SALLOC in
  queued)
    trap 'say "Job allocation 12 has been revoked."; say "Job aborted due to signal"; note withdrawn; exit 1' TERM ;;
  stuck) trap 'note asked to end' TERM ;;
esac
note "asked$asked"
shift
case $FAKE_SALLOC in
  refused)
    say 'error: invalid partition specified: nope'
    say 'error: Job submit/allocate failed: Invalid partition name specified'
    exit 1 ;;
  queued)
    say 'Pending job allocation 12'
    say 'job 12 queued and waiting for resources'
    while :; do sleep 0.05; done ;;
  stuck)
    say 'Pending job allocation 12'
    until [ -e "$FAKE_SALLOC_DIR/answer" ]; do sleep 0.05; done
    note withdrawn
    exit 1 ;;
  impatient)
    say 'error: Unable to allocate resources: Connection timed out'
    exit 1 ;;
  silent) exit 0 ;;
  garbage)
    head -c 9000000 /dev/zero 2>/dev/null
    exit 0 ;;
  later)
    say 'Pending job allocation 12'
    say 'job 12 queued and waiting for resources'
    until [ -e "$FAKE_SALLOC_DIR/grant" ]; do sleep 0.05; done ;;
esac
say 'Granted job allocation 12'
echo 'hello from a prolog'
trap : TERM
[ -z "$FAKE_SALLOC_QUEUE" ] || export STCI_SALLOC_QUEUE="$FAKE_SALLOC_QUEUE"
SLURM_JOB_ID=12 SLURM_JOB_NODELIST="n[1-2]" SLURM_TASKS_PER_NODE="1(x2)" "$@" &
command=$!
if [ "$FAKE_SALLOC" = revoked ]; then
  until [ -e "$FAKE_SALLOC_DIR/revoke" ]; do sleep 0.05; done
  say 'Job 12 has exceeded its time limit and its allocation has been revoked.'
  kill "$command"
fi
if [ "$FAKE_SALLOC" = unanswered ]; then
  wait "$command"
  say 'Relinquishing job allocation 12'
  say 'error: Unable to clean up job allocation 12: Unable to contact slurm controller (connect failure)'
  exit 1
fi
while kill -0 "$command" 2>/dev/null; do wait "$command"; done
note 'given back'
say 'Relinquishing job allocation 12'
