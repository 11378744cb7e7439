#!/usr/bin/env bash
# The canonical session through the server, by pipe: bash manual.sh [FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here}

deno run --quiet --no-prompt --allow-write="$folder" \
  "$here/build_input.ts" "$folder"
deno run --quiet --no-prompt "$here/../../server.ts" \
  < "$folder/input.bin" > "$folder/output.bin" 2> "$folder/stderr.log"
deno run --quiet --no-prompt --allow-read="$folder" --allow-write="$folder" \
  "$here/report.ts" "$folder"
