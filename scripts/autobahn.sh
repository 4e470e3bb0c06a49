#!/usr/bin/env bash
# Tests our WebSocket with Autobahn's fuzzing client (pip install autobahntestsuite; it still needs Python 2.7).
# KITH_BIN: the binary; PYTHON2: a Python 2.7 [default: python2.7]. Fails if a case fails.
set -euo pipefail

kith="${KITH_BIN:?the kith to judge}"
python="${PYTHON2:-python2.7}"
suite="${XDG_CACHE_HOME:-$HOME/.cache}/kith/autobahn-25.10.1"

if ! "$python" --version >/dev/null 2>&1; then
  echo "error: Autobahn's suite needs Python 2.7; name one with PYTHON2=" >&2
  echo "  try: pyenv install 2.7.18, then PYTHON2=\"\$(PYENV_VERSION=2.7.18 pyenv which python2.7)\"" >&2
  exit 1
fi
if [ ! -d "$suite" ]; then
  "$python" -m pip install --quiet --target "$suite.new" autobahntestsuite==25.10.1
  touch "$suite.new/zope/__init__.py" # a namespace that only site-packages would make
  mv "$suite.new" "$suite"
fi

work="$(mktemp -d)"
"$kith" serve --data "$work/data" --http 127.0.0.1:9311 --echo --log warn &
node=$!
trap 'kill "$node"; rm -rf "$work"' EXIT
for _ in $(seq 50); do (: </dev/tcp/127.0.0.1/9311) 2>/dev/null && break; sleep 0.1; done

# Cases 12 and 13 test compression, which the server does not offer.
cat >"$work/spec.json" <<END
{"outdir": "$work/reports", "cases": ["*"], "exclude-cases": ["12.*", "13.*"], "exclude-agent-cases": {},
 "servers": [{"agent": "kith", "url": "ws://127.0.0.1:9311/v1/echo"}]}
END
PYTHONPATH="$suite" "$python" "$suite/bin/wstest" -m fuzzingclient -s "$work/spec.json" >"$work/log"
"$python" - "$work/reports/index.json" <<'END'
import collections, json, sys
cases = json.load(open(sys.argv[1]))["kith"]
count = collections.Counter(case["behavior"] for case in cases.values())
print("%d cases: %s" % (len(cases), ", ".join("%d %s" % (n, word) for word, n in sorted(count.items()))))
good = ("OK", "INFORMATIONAL")
wrong = [(k, v) for k, v in cases.items() if v["behavior"] not in good or v["behaviorClose"] not in good]
for name, case in sorted(wrong):
    print("%s: %s, close %s" % (name, case["behavior"], case["behaviorClose"]))
sys.exit(1 if wrong else 0)
END
