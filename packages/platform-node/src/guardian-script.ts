/**
 * The guardian: a POSIX shell with nothing but built-ins and /proc, which outlives its Node process by a moment and
 * ends what that process can end no more. It reads from a pipe that only that process holds, so the end of file is
 * the process's end, whatever killed it. Lines:
 *   first line     the mark, `STCI_GUARD=…`, which the tools' environments hold (not an argument: those are public)
 *   `!`            a tool is about to be started
 *   `+123` `-123`  process group 123 is ours / is gone
 * At end of file all groups are killed. Then whoever holds the mark, with its group: a tool started so late that its
 * `+` was never written, and daemons that left their group. A killed process may have forked just before, and a fork
 * holds the mark only after its exec, so the search ends after several quiet rounds; one is enough if nothing was
 * running. What hides from both (a daemon that clears its environment and leaves its group) is not found.
 */

// `read` of dash takes a system call a byte, so grep is used for the search where there is one.
// Not every sleep takes fractions; where one does not, the pause is a second.
export const GUARDIAN_SCRIPT = `
trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2 TSTP TTIN TTOU
IFS= read -r mark || exit 0
groups=' '
begun=
while IFS= read -r line; do
  case $line in
    '!') begun=1 ;;
    +*) begun=; groups="$groups\${line#+} " ;;
    -*) case $groups in
          *" \${line#-} "*) groups="\${groups%% \${line#-} *} \${groups#* \${line#-} }" ;;
        esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null

marked() {
  if command -v grep >/dev/null; then
    grep -lF -e "$mark" /proc/[0-9]*/environ
    return
  fi
  for file in /proc/[0-9]*/environ; do
    while IFS= read -r text || [ -n "$text" ]; do
      case $text in *"$mark"*) echo "$file"; break ;; esac
    done <"$file"
  done
}

end() {
  IFS= read -r stat <"$1/stat" || return
  set -- "\${1#/proc/}" \${stat##*) }
  case $4 in '' | 0 | 1 | *[!0-9]*) ;; *) kill -s KILL -- "-$4" ;; esac
  kill -s KILL "$1"
}

quiet=4
case $begun$groups in ' ') quiet=1 ;; esac
rounds=200
while [ "$quiet" -gt 0 ] && [ "$rounds" -gt 0 ]; do
  rounds=$((rounds - 1))
  found=$(marked 2>/dev/null)
  if [ -n "$found" ]; then quiet=4; else quiet=$((quiet - 1)); fi
  for file in $found; do end "\${file%/environ}"; done 2>/dev/null
  if [ "$quiet" -gt 0 ]; then sleep 0.02 2>/dev/null || sleep 1; fi
done
`;
