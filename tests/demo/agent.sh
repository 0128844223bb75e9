# What both demos share: the agent that runs the plugin on the sample, its status,
# and the check. Sourced with name set, for build/<name> and messages; whoever
# sources it defines target_keys, the keys that say where to write.
cd "$(dirname "$0")/../.."
root=$PWD
dir=$root/build/$name
sample=$root/tests/demo/sample.ndjson
want=$(wc -l <"$sample")
agent=

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() {
  echo "$name: $*" >&2
  [[ ! -s $dir/agent.log ]] || { echo "the agent's log ends with" >&2 && tail -n 20 "$dir/agent.log" >&2; }
  exit 1
}
stop_agent() {
  [[ -z $agent ]] || { kill -TERM "$agent" 2>/dev/null && wait "$agent" || true; }
  agent=
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

# The keys of the output, shared by both agents.
keys() {
  target_keys
  cat <<END
format json
json_date_key time
bucket_format yyyy-MM-dd--HH
bucket_timezone UTC
roll_inactivity 6s
bucket_check_interval 1s
state_dir $dir/state
END
}

# Neither agent gets the descriptors by which a demo talks to its target.
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

start_agent() {
  if command -v fluent-bit >/dev/null; then
    say "$want log events through $(fluent-bit --version | head -n 1)"
    start_fluent_bit
  else
    say "$want log events through the test host, as there is no fluent-bit on PATH"
    start_host
  fi
  keys | sed 's/^/   /'
}

# check <lines> <different ids> <other files> ends the demo.
check() {
  say 'Check'
  echo "sent $want, in finished files $1, of which different $2"
  [[ $1 == "$want" && $2 == "$want" ]] || fail 'the counts differ'
  [[ $3 == 0 ]] || fail "$3 files besides the finished ones"
  echo 'every event is in exactly one finished file, once'
}
