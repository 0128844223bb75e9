#!/bin/bash
# Runs the sample's log events through the plugin into hourly buckets on a real
# HDFS, which it starts and stops, and reads them back with Hadoop's own shell.
# Uses fluent-bit when it is on PATH, else the test host. It needs Java 17 and,
# the first time, Maven. Run it as `make demo-hdfs`.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
dir=$root/build/demo-hdfs
sample=$root/tests/demo/sample.ndjson
want=$(wc -l <"$sample")
base=/logs/shop
agent=
hdfs_pid=

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() {
  echo "demo-hdfs: $*" >&2
  [[ ! -s $dir/agent.log ]] || { echo "the agent's log ends with" >&2 && tail -n 20 "$dir/agent.log" >&2; }
  exit 1
}
stop_agent() {
  [[ -z $agent ]] || { kill -TERM "$agent" 2>/dev/null && wait "$agent" || true; }
  agent=
}
stop() {
  stop_agent
  [[ -z $hdfs_pid ]] || { kill -TERM "$hdfs_pid" 2>/dev/null && wait "$hdfs_pid" || true; }
  hdfs_pid=
}
trap stop EXIT

# start_hdfs starts HDFS and sets uri and conf.
start_hdfs() {
  coproc CLUSTER { exec "$dir/cluster" 2>"$dir/cluster.log"; }
  hdfs_pid=$CLUSTER_PID
  exec 3<&"${CLUSTER[0]}" 4>&"${CLUSTER[1]}"
  local key value
  uri='' conf=''
  while read -r key value <&3 && [[ -n $key ]]; do
    case $key in
      uri) uri=$value ;;
      conf) conf=$value ;;
    esac
  done
  [[ -n $uri && -n $conf ]] || { cat "$dir/cluster.log" >&2 && fail 'HDFS did not start'; }
}

# dfs <arguments...> is `hdfs dfs`.
dfs() {
  local line
  echo "$*" >&4
  while IFS= read -r line <&3; do
    case $line in
      .[0-9]) return "${line#.}" ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
  fail 'HDFS ended early'
}

# wait_until <seconds> <command...> waits until the command succeeds.
wait_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    kill -0 "$agent" 2>/dev/null || fail "the agent ended early"
    ((SECONDS < end)) || fail "waited too long for: $*"
    sleep 0.2
  done
}
status() { "$root/build/out-hdfs" --state-dir "$dir/state" status "$@" 2>/dev/null; }
# records <state> adds up the records of the parts in that state.
records() { status | awk -v s="$1" '$2 == s && $1 ~ /^[0-9]+$/ { n += $(NF - 1) } END { print n + 0 }'; }
in_progress() { (($(records in-progress) >= want)); }
published() { (($(status | awk '/^finished / { print $4 }') >= want)); }

# The keys of the output, shared by both agents.
keys() {
  cat <<END
path $uri$base
hadoop_conf_dir $conf
hdfs_user hdfs
format json
json_date_key time
bucket_format yyyy-MM-dd--HH
bucket_timezone UTC
roll_inactivity 6s
bucket_check_interval 1s
state_dir $dir/state
END
}

start_fluent_bit() {
  cat >"$dir/parsers.conf" <<END
[PARSER]
    Name lines
    Format json
    Time_Key time
    Time_Format %Y-%m-%dT%H:%M:%S.%LZ
END
  printf '[PLUGINS]\n    Path %s\n' "$root/build/out_hdfs.so" >"$dir/plugins.conf"
  cat >"$dir/fluent-bit.conf" <<END
[SERVICE]
    Flush 0.5
    Grace 5
    Parsers_File $dir/parsers.conf
    Plugins_File $dir/plugins.conf
    storage.path $dir/storage
[INPUT]
    Name tail
    Path $sample
    Read_from_Head On
    Parser lines
    Tag shop
    storage.type filesystem
[OUTPUT]
    Name hdfs
    Match *
    Workers 1
    Retry_Limit no_limits
$(keys | sed 's/^/    /')
END
  fluent-bit -c "$dir/fluent-bit.conf" >"$dir/agent.log" 2>&1 3<&- 4>&- &
  agent=$!
}

start_host() {
  local set=() key value
  while read -r key value; do set+=(--set "$key=$value"); done < <(keys)
  "$root/build/host" --plugin "$root/build/out_hdfs.so" --storage "$dir/storage" --output hdfs.0 "${set[@]}" \
    --workers 1 --input "$sample" --time-key time --tag shop --records 250 --linger 3600 \
    >"$dir/events.log" 2>"$dir/agent.log" 3<&- 4>&- &
  agent=$!
}

rm -rf "$dir"
mkdir -p "$dir/storage"
command -v java >/dev/null || [[ -n ${JAVA_HOME:-} ]] || fail 'no Java: install a JDK, 17 or later'

say 'A real HDFS: a NameNode and two DataNodes (the first time Maven brings their jars)'
"${GO:-go}" build -o "$dir/cluster" ./tests/demo/cluster
start_hdfs
echo "$uri"

if command -v fluent-bit >/dev/null; then
  say "$want log events through $(fluent-bit --version | head -n 1)"
  start_fluent_bit
else
  say "$want log events through the test host, as there is no fluent-bit on PATH"
  start_host
fi
keys | sed 's/^/   /'

say 'Acknowledged and safe in the journal; the parts are in progress, and HDFS was not asked yet'
wait_until 60 in_progress
status

say 'Six seconds without a record later the parts roll, are uploaded and renamed'
wait_until 120 published
stop_agent

say "hdfs dfs -ls -R $base"
dfs -ls -R "$base" | tee "$dir/ls"

say 'hdfs dfs -cat … | head -n 1 of each hour'
for file in $(awk '/^-/ { print $NF }' "$dir/ls"); do
  dfs -cat "$file" >"$dir/file"
  head -n 1 "$dir/file"
  cat "$dir/file" >>"$dir/all"
done

say 'Check'
lines=$(wc -l <"$dir/all")
ids=$(grep -o '"id":[0-9]*' "$dir/all" | sort -u | wc -l)
echo "sent $want, in finished files $lines, of which different $ids"
[[ $lines == "$want" && $ids == "$want" ]] || fail 'the counts differ'
left=$(awk '/^-/ && $NF ~ /\/\.[^\/]*$/' "$dir/ls" | wc -l)
[[ $left == 0 ]] || fail "$left files besides the finished ones"
echo 'every event is in exactly one finished file, once'
