#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Where the system refuses threads, a program ends with exit code 7 and a message. Usage: threads.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf threads && mkdir threads && cd threads
"$tool" cc "$source" -o app

# A user other than root, whose processes and threads are at most $1.
as_nobody() {
  most=$1
  shift
  setpriv --reuid 65534 --regid 65534 --clear-groups prlimit --nproc="$most:$most" "$@"
}
chmod a+rwx .
as_nobody 100 "$tool" --version > /dev/null 2>&1 && as_nobody 100 sh -c 'cd . && : > writable' 2> /dev/null ||
  { echo "skipped: needs root, setpriv, prlimit, and a build folder that others can read"; exit 77; }
as_nobody 1 sh -c 'true & wait $!' 2> /dev/null && { echo "skipped: the limit of processes has no effect"; exit 77; }

refused() {
  status=0
  as_nobody 1 env "$@" 2> refused.txt || status=$?
  cat refused.txt
  [ "$status" -eq 7 ] || fail "$*: exit code $status"
  grep -q "limit fault: .*shared.asc:[0-9]*: the system refuses a thread: Resource temporarily unavailable" refused.txt ||
    fail "$*: no message"
}
for mode in timing full functional; do
  refused "$tool" sim --mode $mode --output out -q ./app
  refused VINCI_NATIVE_WARNING=0 "$tool" sim --mode $mode --output out -q ./app  # without the thread that watches
done
status=0
as_nobody 1 "$tool" record -o r.vts ./app 2> refused.txt || status=$?
[ "$status" -eq 7 ] && grep -q "error: cannot start ./app: Resource temporarily unavailable" refused.txt ||
  fail "record: exit code $status: $(cat refused.txt)"
as_nobody 100 "$tool" sim --output out -q ./app || fail "with threads: exit code $?"
