/**
 * Shell text that starts an agent: the shell forks the guardian and makes the pipes of the first tool, then execs Node,
 * which inherits their descriptors (held.ts). A fork of a small shell costs a tenth of a fork of Node, and no further
 * shell is started. It also sets the mark that tools cannot lose (process-mark.ts).
 *
 * The text defines `hold ARG…`, which calls `run HELD ARG…` in the same process; the caller has defined `run`, which
 * executes Node and does not return. HELD is empty if the shell's here-documents are files, or without /proc: then
 * the agent makes its guardian and pipes itself. Descriptors of held pipes, in HELD's order:
 *   8        writing end of the guardian's input
 *   4        reading end of a pipe that only the guardian holds open: end of file means that it has ended
 *   (the guardian's process id)
 *   5 6 7    reading ends of pipes for a tool; Node opens the other ends by /proc/self/fd
 * Redirections are those of compound commands: a failed one skips the command and does not end the shell. A subshell
 * (but not a function in one) redirects without keeping copies, which would hold the pipes open.
 */

import { GUARDIAN_SCRIPT } from './guardian-script.js';
import { MARK_FUNCTION } from './process-mark.js';

export const START_SCRIPT = `${MARK_FUNCTION}
stci_guard() {
cd /
PATH="$PATH:/usr/bin:/bin"
${GUARDIAN_SCRIPT}
}
stci_pass() {
  stci_guardian=$1
  shift
  stci_held="8 4 $stci_guardian 5 6 7"
  {
    [ -p /proc/self/fd/5 ] && read -r stci_line <&5 && read -r stci_line <&6 && read -r stci_line <&7 &&
      run "$stci_held" "$@"
  } 5<<END 6<<END 7<<END
x
END
x
END
x
END
  run "8 4 $stci_guardian" "$@"
}
hold() {
  stci_mark
  {
    [ -p /proc/self/fd/3 ] && [ -p /proc/self/fd/4 ] && read -r stci_line <&3 && read -r stci_line <&4 && {
      { stci_guard; } <&3 3<&- 4<&- 8>&- >/dev/null 2>&1 &
      stci_pass "$!" "$@" 3<&- 9>&-
    } 8>/proc/self/fd/3 9>/proc/self/fd/4
  } 3<<END 4<<END
x
END
x
END
  run '' "$@"
}
`;
