#!/bin/bash
# Runs the sample's log events through the plugin into hourly buckets on a real
# HDFS, which it starts and stops, and reads them back with Hadoop's own shell.
# Uses fluent-bit when it is on PATH, else the test host. It needs Java 17 and,
# the first time, Maven. Run it as `make demo-hdfs`.
set -euo pipefail
name=demo-hdfs
. "$(dirname "$0")/agent.sh"
base=/logs/shop
hdfs_pid=

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

target_keys() {
  cat <<END
path $uri$base
hadoop_conf_dir $conf
hdfs_user hdfs
END
}
published() { (($(status | awk '/^finished / { print $4 }') >= want)); }

rm -rf "$dir"
mkdir -p "$dir/storage"
command -v java >/dev/null || [[ -n ${JAVA_HOME:-} ]] || fail 'no Java: install a JDK, 17 or later'

say 'A real HDFS: a NameNode and two DataNodes (the first time Maven brings their jars)'
"${GO:-go}" build -o "$dir/cluster" ./tests/demo/cluster
start_hdfs
echo "$uri"

start_agent

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

lines=$(wc -l <"$dir/all")
ids=$(grep -o '"id":[0-9]*' "$dir/all" | sort -u | wc -l)
left=$(awk '/^-/ && $NF ~ /\/\.[^\/]*$/' "$dir/ls" | wc -l)
check "$lines" "$ids" "$left"
