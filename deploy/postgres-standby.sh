#!/bin/sh
# Runs a hot standby of the PostgreSQL server $PRIMARY, whose password of the user limnomap is in $PGPASSWORD. If $PGDATA has no data, it copies them first.
set -eu
umask 077
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	pg_basebackup --pgdata "$PGDATA" --host "$PRIMARY" --port "${PRIMARY_PORT:-5432}" --username limnomap --checkpoint fast --write-recovery-conf
	chmod 700 "$PGDATA"
fi
# It notices within seconds that the primary is away, and does not end long reads for the sake of its recovery.
exec postgres -c hot_standby_feedback=on -c wal_receiver_timeout=10s "$@"
