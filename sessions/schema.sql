-- One session's journal. Facts are appended and never changed; `live` and `summary` are overwritten in place.
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL);
-- Sources, prompts and replies, once each, by the SHA-256 of their UTF-8 bytes.
CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
-- The response store: answers already paid for.
CREATE TABLE IF NOT EXISTS replies (
    model TEXT NOT NULL, prompt_hash TEXT NOT NULL, sample INTEGER NOT NULL,
    reply_key TEXT NOT NULL, finish TEXT NOT NULL, usage TEXT NOT NULL,
    PRIMARY KEY (model, prompt_hash, sample)
) WITHOUT ROWID;
-- What people ask of the engine; taken once, by id.
CREATE TABLE IF NOT EXISTS commands (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, author TEXT NOT NULL, act TEXT NOT NULL,
    args TEXT NOT NULL, seen_seq INTEGER NOT NULL, taken_at REAL
);
CREATE TABLE IF NOT EXISTS live (id INTEGER PRIMARY KEY CHECK (id = 1), at REAL NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS summary (id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL);
