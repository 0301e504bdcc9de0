/**
 * The guardian: a POSIX shell that uses only built-ins and /proc. It outlives its Node process briefly and ends the
 * tools that this process can no longer end. It reads from a pipe whose writing end only that process holds, so end of
 * file means that the process has died. Lines:
 *   first line     the mark, `STCI_GUARD=…`, in the tools' environments (never passed as an argument: those are public)
 *   `!`            a tool is about to be started
 *   `+123` `-123`  process group 123 is ours / is gone
 *   `=`            a search has found no process of any tool
 *   `~name`        tools share memory by files in /dev/shm whose names begin so
 * At end of file it exits if no tool was started since the last `=`. Otherwise it kills all groups, then every process
 * that holds a mark, and the group that it leads: a tool started so late that its `+` was never written, and daemons
 * that left their group. There are two marks, in the environment and in a limit (process-mark.ts). A killed process may
 * have forked just before, and a fork holds the first mark only after its exec: without the second mark the search ends
 * after four quiet rounds, with it after two. One is enough if nothing was running.
 *
 * When they are gone it removes the files in /dev/shm by which they shared memory: those of its user that no process
 * has mapped or open, as those of other runs are.
 *
 * Anybody may read the limit and set it for his own processes: it is evidence only for processes whose four user ids
 * are the guardian's. Where the user is root, processes of others are found by the variable, which is secret; of those
 * only the process itself is killed.
 */

import { COMMAND_TAG, MARK_TAG, TAG_SHIFT } from './process-mark.js';

// dash reads with one system call per byte, so the search uses grep if there is one. If sleep does not accept
// fractions, the pause is a second. A subshell would find itself: the list is made before it.
// A zombie keeps its limit until it is reaped, which the first process of a container may do late: it is ignored.
// `$$` is the agent if this shell was forked by the one that became the agent.
export const GUARDIAN_SCRIPT = `
trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2 TSTP TTIN TTOU
IFS= read -r mark || exit 0
groups=' '
shared=
begun=
used=
while IFS= read -r line; do
  case $line in
    '!') begun=1 used=1 ;;
    '=') used= ;;
    '~'*) shared="$shared /dev/shm/\${line#?}*" ;;
    +*) begun= used=1 groups="$groups\${line#+} " ;;
    -*) case $groups in
          *" \${line#-} "*) groups="\${groups%% \${line#-} *} \${groups#* \${line#-} }" ;;
        esac ;;
  esac
done
[ -n "$used" ] || exit 0
for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null

IFS=' ' read -r self rest </proc/self/stat
limit=
while read -r a b c number rest; do
  case "$a $b $c $number" in "Max file locks "*[!0-9]* | "Max file locks ") ;; "Max file locks "*)
    case $((number >> ${TAG_SHIFT}))/$((number & 4194303)) in
      "${MARK_TAG}/$PPID" | "${MARK_TAG}/$$" | "${COMMAND_TAG}/$PPID") limit=$number ;;
    esac ;;
  esac
done </proc/self/limits

users() {
  while read -r a users; do
    case $a in Uid:) return ;; esac
  done <"$1/status"
  return 1
}
users /proc/self
own=$users

all=
if [ -O /proc/1 ]; then all=1; fi
list() {
  environs=
  limits=
  for dir in /proc/[0-9]*; do
    if [ "$dir" = "/proc/$self" ]; then continue; fi
    if [ -O "$dir" ]; then limits="$limits $dir/limits"; elif [ -z "$all" ]; then continue; fi
    environs="$environs $dir/environ"
  done
}

holding() {
  text=$1
  shift
  if command -v grep >/dev/null; then
    printf '%s\\n' "$text" | grep -lF -f - "$@"
    return
  fi
  for file; do
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in *"$text"*) echo "$file"; break ;; esac
    done <"$file"
  done
}
marked() {
  holding "$mark" $environs
  if [ -n "$limit" ]; then holding "$limit" $limits; fi
}

end() {
  IFS= read -r stat <"\${1%/*}/stat" && users "\${1%/*}" || return
  file=\${1##*/}
  set -- "\${1#/proc/}" \${stat##*) }
  set -- "\${1%/*}" "$2" "$4"
  case $2 in Z | X) return ;; esac
  if [ "$users" = "$own" ]; then
    if [ "$3" = "$1" ] && [ "$1" != 1 ]; then kill -s KILL -- "-$1"; fi
  elif [ "$file" = limits ]; then
    return
  fi
  alive=1
  kill -s KILL "$1"
}

most=4
if [ -n "$limit" ]; then most=2; fi
quiet=$most
case $begun$groups in ' ') quiet=1 ;; esac
rounds=200
while [ "$quiet" -gt 0 ] && [ "$rounds" -gt 0 ]; do
  rounds=$((rounds - 1))
  list
  alive=
  for file in $(marked 2>/dev/null); do end "$file"; done 2>/dev/null
  if [ -n "$alive" ]; then quiet=$most; else quiet=$((quiet - 1)); fi
  if [ "$quiet" -gt 0 ]; then sleep 0.02 2>/dev/null || sleep 1; fi
done

for tool in grep ls rm; do command -v "$tool" >/dev/null || exit 0; done
mapped() {
  grep -hs /dev/shm/ /proc/[0-9]*/maps
  ls -l /proc/[0-9]*/fd 2>/dev/null | grep /dev/shm/
}
rounds=10
while [ -n "$shared" ] && [ "$rounds" -gt 0 ]; do
  rounds=$((rounds - 1))
  mapped=$(mapped)
  left=
  for file in $shared; do
    if [ ! -f "$file" ] || [ ! -O "$file" ]; then continue; fi
    case $mapped in *"$file"*) left=1 ;; *) rm -f "$file" ;; esac
  done
  if [ -z "$left" ]; then break; fi
  sleep 0.1 2>/dev/null || sleep 1
done
`;
