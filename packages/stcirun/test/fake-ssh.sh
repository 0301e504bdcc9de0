#!/bin/sh
# Stands for OpenSSH's client in tests: what would run on the host runs here. dead* refuses; slow* takes its time;
# once* refuses the first time (marks it in $FAKE_SSH_DIR). Logins are listed in $FAKE_SSH_DIR/logins.
for word; do
  if [ "$seen" = 2 ]; then command=$word; seen=3; fi
  if [ "$seen" = 1 ]; then host=$word; seen=2; fi
  if [ -z "$seen" ] && [ "$word" = -- ]; then seen=1; fi
done
refuse() { echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255; }
case $host in
  dead*) refuse ;;
  slow*) sleep 2 ;;
  once*) mkdir "$FAKE_SSH_DIR/$host" 2>/dev/null && refuse ;;
esac
echo "Authenticated to $host" >&2
case $* in *' -G '*) exit 1 ;; esac
[ -z "$FAKE_SSH_DIR" ] || echo "$host" >> "$FAKE_SSH_DIR/logins"
# What the check of this host is to answer.
facts=$FAKE_SSH_DIR/$host.facts
[ -f "$facts" ] || exec sh -c "$command"
sh -c "$command" </dev/null | sed -n 's/ facts .*/ facts /p' | tr -d '\n'
cat "$facts"
