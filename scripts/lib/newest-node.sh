#!/usr/bin/env bash
# newest-node.sh DIRECTORY: installs the newest Node that npm has into the directory, and prints where its commands are.
set -euo pipefail
arch=x64
[ "$(uname -m)" != aarch64 ] || arch=arm64
version=$(npm view "node-linux-$arch" dist-tags.latest)
npm install --prefix "$1" --no-save --no-audit --no-fund --loglevel error "node-linux-$arch@$version" >&2
echo "$1/node_modules/node-linux-$arch/bin"
