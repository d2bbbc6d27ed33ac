#!/bin/sh
# What the chart uses of the entry point of the official image: a new data folder gets the user, the password and the database
# that the variables name, and the server listens on all addresses.
set -eu
PATH="$(echo /usr/lib/postgresql/*/bin):$PATH"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  password_file="$(mktemp)"
  printf '%s\n' "$POSTGRES_PASSWORD" > "$password_file"
  initdb --username="$POSTGRES_USER" --pwfile="$password_file" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 > /dev/null
  rm "$password_file"
  printf 'host all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --options="-c listen_addresses=" --wait start > /dev/null
  createdb --host=/var/run/postgresql --username="$POSTGRES_USER" --maintenance-db=template1 "$POSTGRES_DB"
  pg_ctl --pgdata="$PGDATA" --mode=fast --wait stop > /dev/null
fi
exec "$@" -c listen_addresses='*'
