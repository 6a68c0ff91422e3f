#!/bin/sh
# Lets a standby copy this server. The image of PostgreSQL runs it once, when it makes the database.
set -eu
echo "host replication $POSTGRES_USER samenet scram-sha-256" >>"$PGDATA/pg_hba.conf"
