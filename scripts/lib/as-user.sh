#!/usr/bin/env bash
# as-user.sh DIRECTORY COMMAND...: as root, runs the command as an ordinary user, in a clone of this repository in his
# home DIRECTORY/user, which the first call makes. The account is there for these processes alone: a file with accounts
# is bound over /etc/passwd. Others must be able to enter the directory.
set -euo pipefail
work=$1
shift
user=stci-ci
if [ ! -e "$work/passwd" ]; then
  id=61000
  while getent passwd "$id" >/dev/null; do id=$((id + 1)); done
  mkdir "$work/user"
  # The repository may belong to somebody else than root.
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
    git clone --quiet "$(dirname "$0")/../.." "$work/user/stci"
  chown -R "$id:$id" "$work/user"
  { getent passwd; echo "$user:x:$id:$id::$work/user:/bin/bash"; } >"$work/passwd"
  chmod 644 "$work/passwd"
fi
id=$(stat -c %u "$work/user")
# What his test hosts leave: the directory of their lock.
trap 'rm -rf "/var/tmp/stci-hosts-$id"' EXIT
# shellcheck disable=SC2016
unshare --mount bash -c 'mount --bind "$1/passwd" /etc/passwd; cd "$1/user/stci"; shift; exec "$@"' run "$work" \
  setpriv --reuid "$id" --regid "$id" --clear-groups \
  env -u XDG_RUNTIME_DIR -u XDG_CONFIG_HOME -u XDG_CACHE_HOME -u SSH_AUTH_SOCK -u npm_config_cache \
  HOME="$work/user" USER="$user" LOGNAME="$user" npm_config_registry="$(npm config get registry)" "$@"
