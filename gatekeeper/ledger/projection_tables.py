"""The tables of the projection: run states, and the index over the log's events.

The index has a narrow row for each event: where its line stands, and what queries filter and group by, texts
being replaced by the numbers of dictionaries. It has no lines. What most queries ask is shared by many
events and stands in `facets` once; how many events of a day have it is counted as they are taken in.
"""

from __future__ import annotations

TABLES = """
CREATE TABLE head (
  id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, digest TEXT NOT NULL, ts TEXT NOT NULL,
  lines INTEGER NOT NULL, "end" INTEGER NOT NULL, anchor_offset INTEGER NOT NULL, anchor_length INTEGER NOT NULL,
  anchor_digest TEXT NOT NULL, segment INTEGER NOT NULL, listed INTEGER NOT NULL, is_complete INTEGER NOT NULL);

CREATE TABLE runs (
  number INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, experiment_id TEXT, variant_id TEXT,
  simulated INTEGER NOT NULL, state TEXT NOT NULL, live INTEGER NOT NULL, incomplete INTEGER NOT NULL,
  first_seq INTEGER NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX runs_slot ON runs (experiment_id, variant_id, simulated, first_seq);
CREATE INDEX runs_live ON runs (experiment_id, variant_id, simulated) WHERE live = 1;
CREATE TABLE tokens (token TEXT PRIMARY KEY, run_id TEXT NOT NULL, ended_by TEXT) WITHOUT ROWID;
-- segment: of its newest `policy` event; 0 where none stands behind the last head
CREATE TABLE policies (
  digest TEXT NOT NULL, schema_version INTEGER NOT NULL, document BLOB NOT NULL, segment INTEGER NOT NULL,
  PRIMARY KEY (digest, schema_version));

-- a file that was seen in the log's place; name '' is the one that stands there, NULL is not known
CREATE TABLE segments (
  number INTEGER PRIMARY KEY, name TEXT, first_seq INTEGER, last_seq INTEGER, compression TEXT NOT NULL DEFAULT '');
INSERT INTO segments (number, name) VALUES (1, '');
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE facets (id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE);
-- an event's id is its run's, a colon, the name, and from 2 on `#` and the number
-- facet is NULL where the line says of itself what the index cannot hold: it stands in odd, too
CREATE TABLE events (
  seq INTEGER PRIMARY KEY, segment INTEGER NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL,
  length INTEGER NOT NULL, digest BLOB NOT NULL, ts INTEGER, facet INTEGER, run INTEGER, experiment INTEGER,
  variant INTEGER, actor INTEGER, name INTEGER, number INTEGER, question INTEGER);
CREATE INDEX events_facet ON events (facet);
CREATE INDEX events_name ON events (run, name, number);
CREATE INDEX events_experiment ON events (experiment);
CREATE INDEX events_question ON events (run, question) WHERE question IS NOT NULL;
-- ids that do not begin with their run's, and idempotency keys with their newest decision
CREATE TABLE other_ids (event_id TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE keys (key TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
-- lines that the index does not list: damaged, founding-style, doubled, out of order; after the event `after_seq`
CREATE TABLE odd (
  segment INTEGER NOT NULL, line INTEGER NOT NULL, after_seq INTEGER NOT NULL, offset INTEGER NOT NULL,
  length INTEGER NOT NULL, digest BLOB NOT NULL, event_id TEXT, run_id TEXT, PRIMARY KEY (segment, line)) WITHOUT ROWID;
CREATE INDEX odd_digest ON odd (digest);
CREATE INDEX odd_id ON odd (event_id) WHERE event_id IS NOT NULL;
-- listed events that do not follow the one listed before by one
CREATE TABLE jumps (
  segment INTEGER NOT NULL, seq INTEGER NOT NULL, previous INTEGER NOT NULL, PRIMARY KEY (segment, seq)) WITHOUT ROWID;
CREATE TABLE totals (
  segment INTEGER NOT NULL, facet INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (segment, facet)) WITHOUT ROWID;
CREATE TABLE daily (
  segment INTEGER NOT NULL, day INTEGER NOT NULL, facet INTEGER NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (segment, day, facet)) WITHOUT ROWID;
-- lines that a run stands on and that the index could not replace were their file lost
CREATE TABLE kept (event_id TEXT PRIMARY KEY, line BLOB NOT NULL);
"""
