#!/usr/bin/env bash
# An operator's year, as a story that is run: each step says what happens, does it with the binary, and checks what is there then.
#
#   LIMNOMAP=bin/limnomap docs/operators-year.sh
#
# OLDER names databases of older versions, as schema=FILE, which are upgraded; without them that part is left out. The disk is filled up as
# root on Linux only. Everything is in a temporary folder.
set -euo pipefail

limnomap=$(realpath "${LIMNOMAP:-bin/limnomap}")
port=${PORT:-18790}
work=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	mountpoint -q "$work/disk" 2>/dev/null && umount -l "$work/disk"
	rm -rf "$work"
}
trap finish EXIT
cd "$work"

tell() { printf '\n== %s\n' "$*"; }
run() { # prints a command and runs it
	echo "\$ limnomap $*"
	"$limnomap" "$@"
}
fail() {
	echo "FAILED: $*" >&2
	exit 1
}
refused() { # REASON COMMAND...: the command must end with an error that has the reason
	local reason=$1 said
	shift
	echo "\$ limnomap $*"
	if said=$("$limnomap" "$@" 2>&1); then fail "it was not refused: $said"; fi
	echo "$said"
	[[ $said == *"$reason"* ]] || fail "the error has no \"$reason\""
}
everything() { # of a database, as text
	"$limnomap" export lakes - --db "$1"
	"$limnomap" export observations - --db "$1"
}
same() { [ "$1" = "$2" ] || fail "$3: $(diff <(echo "$1") <(echo "$2") | head -5)"; }
await() { # TEXT PATH: until the answer has the text; TEXT may be "!text"
	local attempt said
	for attempt in {1..600}; do
		said=$(curl -sS "http://127.0.0.1:$port$2" 2>/dev/null || true)
		case $1 in
		!*) [ -n "$said" ] && [[ $said != *"${1#!}"* ]] && return ;;
		*) [[ $said == *"$1"* ]] && return ;;
		esac
		sleep 0.2
	done
	fail "$2 never was as expected ($1): $said $(cat server.log)"
}
serve() {
	echo "\$ limnomap serve $*"
	"$limnomap" serve --listen "127.0.0.1:$port" "$@" 2>>server.log &
	server=$!
	await '"ready"' /readyz
}
stop() {
	kill "$server"
	wait "$server" || fail "the server did not stop cleanly: $(tail -3 server.log)"
	server=
}
status=/api/v1/bathing-lakes/status

tell "January: the server is installed, with 30 lakes and their values"
today=$(date -u +%F)
{
	echo "id,name,lat,lon"
	echo "mueggelsee,Müggelsee,52.4383,13.6461"
	echo "stechlin,Stechlinsee,53.1500,13.0250"
	echo "wannsee,Wannsee,52.4300,13.1700"
	for n in {1..27}; do echo "lake_$n,Lake $n,51.$((n + 10)),12.$((n + 10))"; done
} >lakes.csv
{
	echo "lake_id,date,chl,data_type"
	echo "mueggelsee,$today,62.5,satellite"
	echo "stechlin,$today,2.1,satellite"
	echo "wannsee,$today,14,satellite"
	for n in {1..27}; do echo "lake_$n,$today,$((n * 4)).5,satellite"; done
} >values.csv
run import lakes lakes.csv --db lakes.db
run import observations values.csv --db lakes.db
serve --db lakes.db
await Stechlinsee "$status"
before=$(everything lakes.db)

tell "March: somebody imports a wrong file. It is refused; with --force it is taken, and undone"
sed '1!s/,[0-9.]*,satellite/,9.99,satellite/' values.csv >wrong.csv
refused "--force" import observations wrong.csv --db lakes.db
same "$(everything lakes.db)" "$before" "the refused file changed something"
run import observations wrong.csv --db lakes.db --force
await 9.99 "$status"
run imports list --db lakes.db
run imports undo --db lakes.db --dry-run
run imports undo --db lakes.db
await '!9.99' "$status"
same "$(everything lakes.db)" "$before" "the undo left something else"

tell "May: a backup is made, and a lake is deleted"
run backup january.db --db lakes.db
run delete lake wannsee --db lakes.db --dry-run
same "$(everything lakes.db)" "$before" "the dry run deleted something"
run delete lake wannsee --db lakes.db
await '!Wannsee' "$status"
[[ $(everything lakes.db) != *annsee* ]] || fail "the lake is still in the exports"
without=$(everything lakes.db)
stop

for entry in ${OLDER:-}; do
	schema=${entry%%=*} old=old-${entry%%=*}.db
	tell "June: a database of schema $schema is upgraded, and back"
	cp "${entry#*=}" "$old"
	sum=$(sha256sum <"$old")
	refused migrate export lakes - --db "$old"
	run migrate --dry-run --db "$old"
	same "$(sha256sum <"$old")" "$sum" "reading changed the older database"
	run migrate --db "$old"
	copies=("$old".schema-"$schema".*)
	[ ${#copies[@]} = 1 ] || fail "want one copy, got ${copies[*]}"
	now=$(everything "$old")
	[ -n "$now" ] || fail "the upgraded database is empty"
	echo "The upgrade does not suit: the copy goes back, as the older version left it."
	rm -f "$old-wal" "$old-shm"
	mv "${copies[0]}" "$old"
	refused migrate export lakes - --db "$old"
	serve --db "$old" --as-of data # and the upgrade once more, by the server
	stop
	same "$(everything "$old")" "$now" "the second upgrade has another result"
done

if [ "$(uname)" = Linux ] && mkdir -p disk && mount -t tmpfs -o size=96m tmpfs disk 2>/dev/null; then
	tell "August: the disk is full, and the server is started"
	cp lakes.db disk/lakes.db
	cat /dev/zero >disk/filler 2>/dev/null || true
	serve --db disk/lakes.db
	await Stechlinsee "$status"
	grep 'its disk is full' server.log || fail "the log does not say so"
	same "$(everything disk/lakes.db)" "$without" "the exports on the full disk"
	run backup august.db --db disk/lakes.db
	refused "disk" import observations values.csv --skip-bad --db disk/lakes.db
	echo "There is room again: nothing has to be restarted."
	rm disk/filler
	sed '/mueggelsee/s/62.5/63.5/; /wannsee/d' values.csv >new.csv
	run import observations new.csv --db disk/lakes.db
	await 63.5 "$status"
	stop
else
	tell "August: the disk is full (left out: it needs root on Linux)"
fi

tell "October: the database is damaged, and the backup restored under the running server"
serve --db lakes.db
await '!Wannsee' "$status"
cp january.db restored.db
mv restored.db lakes.db
await Wannsee "$status"
stop
same "$(everything lakes.db)" "$before" "the restored database"

tell "December: all is as it should be"
