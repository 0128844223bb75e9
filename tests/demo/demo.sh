#!/bin/bash
# Runs the sample's log events through the plugin into hourly buckets below a
# file:// path and shows what happens on the way. Uses fluent-bit when it is on
# PATH, else the test host. Run it as `make demo`.
set -euo pipefail
name=demo
. "$(dirname "$0")/agent.sh"
trap stop_agent EXIT

target_keys() { echo "path file://$dir/target"; }
finished_lines() { find "$dir/target" -name 'part-*' -type f -exec cat {} + 2>/dev/null | wc -l; }
finished() { (($(finished_lines) >= want)); }

rm -rf "$dir"
mkdir -p "$dir/target" "$dir/storage"
start_agent

say 'Acknowledged and safe in the journal; the parts are in progress'
wait_until 60 in_progress
status
echo "finished files: $(find "$dir/target" -name 'part-*' -type f | wc -l)"

say 'Six seconds without a record later the parts roll and are published'
wait_until 60 finished
stop_agent
(cd "$dir/target" && find . -type f | sort | xargs -d '\n' wc -l)

say 'The first line of each hour'
find "$dir/target" -name 'part-*' -type f | sort | while read -r file; do head -n 1 "$file"; done

lines=$(finished_lines)
ids=$(find "$dir/target" -name 'part-*' -type f -exec cat {} + | grep -o '"id":[0-9]*' | sort -u | wc -l)
left=$(find "$dir/target" -name '.*' -type f | wc -l)
check "$lines" "$ids" "$left"
