#!/bin/bash
# Sees to the tools that building and testing need: `tools.sh compilers` to Go and
# a C compiler, `tools.sh all` to everything. What is missing is installed where
# that is allowed, by root on Debian or Ubuntu, and else named in one line to type.
set -euo pipefail

missing=()
need() { command -v "$1" >/dev/null || missing+=("${@:2}"); }

need cc gcc libc6-dev
if [[ ${1:-} == all ]]; then
  need java openjdk-17-jdk-headless
  need mvn maven
  PATH=$PATH:/usr/sbin need krb5kdc krb5-kdc krb5-admin-server
  need kinit krb5-user
  need gzip gzip
  need bzip2 bzip2
  need zstd zstd
  # A Python whose venv lacks ensurepip makes environments without pip.
  python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
fi

if ((${#missing[@]})); then
  line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if ! command -v apt-get >/dev/null; then
    echo "missing: ${missing[*]} (Debian's names); install them" >&2
    exit 1
  elif [[ $(id -u) != 0 ]]; then
    echo "missing tools; type: sudo sh -c '$line'" >&2
    exit 1
  fi
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

if ! command -v go >/dev/null; then
  echo "Go isn't on PATH: install the version that go.mod names, from go.dev/dl" >&2
  exit 1
fi
