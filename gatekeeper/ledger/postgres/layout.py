"""The tables, as SQL: the log itself, which only grows, and what is derived from it.

The numbered steps of `migrations` put them into a database; what they hold is told in docs/formats/postgresql.md.
"""

from __future__ import annotations

SCHEMA = "gatekeeper"
"""All tables stand in a schema of this name, so that the database may serve other programs, too."""

WRITER, READER = "gatekeeper_writer", "gatekeeper_reader"
"""Roles that are granted what appending and reading take; whoever logs in is a member of one of them."""

DERIVED = ("facts", "facets", "runs", "tokens", "policies", "kept")
"""Tables that a fold of the log gives again, in the order in which they are emptied for it."""

LOG = """
CREATE TABLE gatekeeper.events (
  seq bigint PRIMARY KEY,
  line bytea NOT NULL,
  digest bytea NOT NULL CHECK (octet_length(digest) = 32)
);
COMMENT ON TABLE gatekeeper.events IS 'the decision log: the bytes of each line without its newline, and their SHA-256';
-- one row, which every append locks and moves on
CREATE TABLE gatekeeper.head (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  seq bigint NOT NULL,
  digest bytea NOT NULL,
  ts text NOT NULL,
  is_complete boolean NOT NULL,
  is_lazy boolean NOT NULL
) WITH (fillfactor = 10);
INSERT INTO gatekeeper.head VALUES (1, 0, decode(repeat('0', 64), 'hex'), '', true, false);
CREATE FUNCTION gatekeeper.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  RAISE EXCEPTION 'the decision log is append-only: % of gatekeeper.% is refused', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'object_not_in_prerequisite_state';
END
$body$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gatekeeper.events
  FOR EACH STATEMENT EXECUTE FUNCTION gatekeeper.refuse_change();
ALTER TABLE gatekeeper.events ENABLE ALWAYS TRIGGER append_only;
"""

STATE = """
CREATE TABLE gatekeeper.runs (
  run_id text COLLATE "C" PRIMARY KEY,
  experiment_id text COLLATE "C",
  variant_id text COLLATE "C",
  simulated boolean NOT NULL,
  state text NOT NULL,
  live boolean NOT NULL,
  incomplete boolean NOT NULL,
  first_seq bigint NOT NULL,
  version bigint NOT NULL,
  body text NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX runs_slot ON gatekeeper.runs (experiment_id, variant_id, simulated, first_seq);
CREATE INDEX runs_live ON gatekeeper.runs (experiment_id, variant_id, simulated) WHERE live;
-- in a transaction that is open: wait for the log, hold it, and read its end and the runs that are asked for
CREATE FUNCTION gatekeeper.lock_log(wanted text[], silent_for text) RETURNS TABLE (
  seq bigint, digest bytea, ts text, is_complete boolean,
  run_id text, experiment_id text, variant_id text, simulated boolean, state text, incomplete boolean,
  first_seq bigint, version bigint, body text
) LANGUAGE plpgsql VOLATILE AS $body$
BEGIN
  PERFORM FROM gatekeeper.head FOR UPDATE;
  PERFORM set_config('idle_in_transaction_session_timeout', silent_for, true);
  RETURN QUERY
    SELECT h.seq, h.digest, h.ts, h.is_complete, r.run_id, r.experiment_id, r.variant_id, r.simulated, r.state,
      r.incomplete, r.first_seq, r.version, r.body
    FROM gatekeeper.head AS h LEFT JOIN gatekeeper.runs AS r ON r.run_id = ANY (wanted);
END
$body$;
CREATE TABLE gatekeeper.tokens (
  token text COLLATE "C" PRIMARY KEY,
  run_id text COLLATE "C" NOT NULL,
  ended_by text COLLATE "C"
);
-- seq: of the newest `policy` event that has the document
CREATE TABLE gatekeeper.policies (
  digest text COLLATE "C",
  schema_version integer,
  seq bigint NOT NULL,
  PRIMARY KEY (digest, schema_version)
);
-- lines that runs stand on and that a segment's head brought along: the log itself begins behind them
CREATE TABLE gatekeeper.kept (event_id text COLLATE "C" PRIMARY KEY, line bytea NOT NULL);
"""

INDEX = """
-- what events are filtered and counted by, shared by many; the number is made of the body
CREATE TABLE gatekeeper.facets (id bigint PRIMARY KEY, body text NOT NULL);
-- a row for each event; facet and ts are NULL where its line says of itself what an index cannot hold
CREATE TABLE gatekeeper.facts (
  seq bigint PRIMARY KEY,
  ts bigint,
  facet bigint,
  run_id text COLLATE "C",
  experiment_id text COLLATE "C",
  variant_id text COLLATE "C",
  actor text COLLATE "C",
  event_id text COLLATE "C",
  key text COLLATE "C",
  question bigint
);
CREATE UNIQUE INDEX facts_event_id ON gatekeeper.facts (event_id);
CREATE INDEX facts_run ON gatekeeper.facts (run_id, seq) WHERE run_id IS NOT NULL;
CREATE INDEX facts_experiment ON gatekeeper.facts (experiment_id, seq) WHERE experiment_id IS NOT NULL;
CREATE INDEX facts_facet ON gatekeeper.facts (facet, seq);
CREATE INDEX facts_question ON gatekeeper.facts (run_id, question, seq) WHERE question IS NOT NULL;
CREATE INDEX facts_key ON gatekeeper.facts (key, seq) WHERE key IS NOT NULL;
CREATE FUNCTION gatekeeper.time_text(moment bigint) RETURNS text LANGUAGE sql STABLE AS $body$
  SELECT to_char(timestamp '1970-01-01' + moment * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$body$;
-- one event of a run that is known: sealed here, so that the log is locked for no longer than that takes. No row is
-- given where the run has moved or the clock is far behind the last line: then nothing was done. `moment`: the caller's
-- clock in microseconds; the time that the call has waited here is added.
CREATE FUNCTION gatekeeper.append_plain(
  parts bytea[], moment bigint, wanted_run text, wanted_version bigint,
  new_state text, new_live boolean, body_before text, body_behind text,
  new_facet bigint, new_experiment text, new_variant text, new_actor text, new_event_id text, new_question bigint,
  is_lazily bool
) RETURNS TABLE (new_seq bigint, prev bytea, new_ts text, clock text) LANGUAGE plpgsql VOLATILE AS $body$
DECLARE
  before gatekeeper.head%ROWTYPE;
  told text := '';
  sealed bytea;
  sealed_digest bytea;
BEGIN
  SELECT * INTO before FROM gatekeeper.head FOR UPDATE;
  moment := moment + (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint;
  new_ts := gatekeeper.time_text(moment);
  IF new_ts COLLATE "C" < before.ts COLLATE "C" THEN
    SELECT f.ts INTO moment FROM gatekeeper.facts AS f WHERE f.seq = before.seq AND f.ts < moment + 1000000;
    IF moment IS NULL THEN
      RETURN;
    END IF;
    clock := new_ts;
    new_ts := before.ts;
    told := '"clock":"' || clock || '",';
  END IF;
  new_seq := before.seq + 1;
  prev := before.digest;
  UPDATE gatekeeper.runs
  SET state = new_state, live = new_live, version = new_seq, body = body_before || new_ts || body_behind
  WHERE run_id = wanted_run AND version = wanted_version;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  sealed := parts[1] || convert_to(told, 'UTF8') || parts[2] || convert_to(encode(prev, 'hex'), 'UTF8') || parts[3]
    || convert_to(new_seq::text, 'UTF8') || parts[4] || convert_to(new_ts, 'UTF8') || parts[5];
  sealed_digest := sha256(sealed);
  UPDATE gatekeeper.head SET seq = new_seq, digest = sealed_digest, ts = new_ts, is_lazy = is_lazily
  WHERE seq = before.seq;
  INSERT INTO gatekeeper.events (seq, line, digest) VALUES (new_seq, sealed, sealed_digest);
  INSERT INTO gatekeeper.facts (seq, ts, facet, run_id, experiment_id, variant_id, actor, event_id, question)
  VALUES (new_seq, moment, new_facet, wanted_run, new_experiment, new_variant, new_actor, new_event_id, new_question);
  IF is_lazily THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  RETURN NEXT;
END
$body$;
-- the same where others wait for the log: it is given back first, then this call waits for the device
CREATE PROCEDURE gatekeeper.append_plain_lazily(
  parts bytea[], moment bigint, wanted_run text, wanted_version bigint,
  new_state text, new_live boolean, body_before text, body_behind text,
  new_facet bigint, new_experiment text, new_variant text, new_actor text, new_event_id text, new_question bigint,
  INOUT new_seq bigint, INOUT prev bytea, INOUT new_ts text, INOUT clock text
) LANGUAGE plpgsql AS $body$
BEGIN
  SELECT a.new_seq, a.prev, a.new_ts, a.clock INTO new_seq, prev, new_ts, clock
  FROM gatekeeper.append_plain(
    parts, moment, wanted_run, wanted_version, new_state, new_live, body_before, body_behind,
    new_facet, new_experiment, new_variant, new_actor, new_event_id, new_question, true
  ) AS a;
  COMMIT;
  IF new_seq IS NOT NULL THEN
    PERFORM pg_logical_emit_message(true, 'gatekeeper', '');
  END IF;
END
$body$;
"""

GRANTS = f"""
GRANT USAGE ON SCHEMA gatekeeper TO {WRITER}, {READER};
GRANT SELECT ON ALL TABLES IN SCHEMA gatekeeper TO {WRITER}, {READER};
GRANT INSERT ON gatekeeper.events TO {WRITER};
GRANT UPDATE ON gatekeeper.head TO {WRITER};
GRANT INSERT, UPDATE, DELETE ON {", ".join(f"gatekeeper.{table}" for table in DERIVED)} TO {WRITER};
"""
"""What the two roles get: nobody but the owner of the tables may change or remove a line."""
