-- What bench/cross-programs has SQLite do: most kinds of statements, extensions and number formats; the text that comes out is compared.
.mode list
PRAGMA journal_mode = wal;
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, price REAL, data BLOB, CHECK (price >= 0));
CREATE INDEX by_name ON item(name, price DESC);
CREATE TABLE log(id INTEGER, what TEXT);
CREATE TRIGGER noted AFTER UPDATE OF price ON item BEGIN INSERT INTO log VALUES (new.id, printf('%.3f -> %.3e', old.price, new.price)); END;
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
  INSERT INTO item SELECT i, 'item ' || (i * 7919 % 3001), i * 1.1 / 7, zeroblob(i % 50) FROM n;
UPDATE item SET price = price * 1.19 WHERE id % 97 = 0;
SELECT count(*), min(what), max(what) FROM log;
SELECT count(*), sum(price), avg(price), group_concat(DISTINCT length(data)) FROM item WHERE name LIKE 'ITEM 1%';
SELECT name, price, rank() OVER (ORDER BY price DESC), sum(price) OVER (ORDER BY id ROWS 3 PRECEDING) FROM item ORDER BY id DESC LIMIT 7;
SELECT a.id, b.name FROM item a JOIN item b ON b.id = a.id * 31 % 2999 WHERE a.price BETWEEN 100 AND 101 ORDER BY 1;
EXPLAIN QUERY PLAN SELECT * FROM item WHERE name = 'item 5' AND price > 3;
BEGIN; DELETE FROM item WHERE id > 1000; SAVEPOINT s; DELETE FROM item; ROLLBACK TO s; COMMIT;
SELECT count(*), sum(id) FROM item;
INSERT INTO item(id, name, price) VALUES (1, 'again', 3.5) ON CONFLICT(id) DO UPDATE SET name = excluded.name RETURNING *;
INSERT INTO item(price) VALUES (-1);
SELECT 9223372036854775807 + 1, -9223372036854775808, 1e308 * 10, 0.1 + 0.2, 1 / 3.0, 7 % -3, CAST('12abc' AS INT), 0x7fffffffffffffff;
SELECT sin(1), cos(2), exp(3), ln(10), pow(2, 0.5), atan2(1, 2), ceil(-1.5), trunc(2.7), mod(7.5, 2);
SELECT hex(zeroblob(3) || x'00ff'), quote('it''s'), unicode('ß'), upper('straße'), char(8364, 119070), instr('hello', 'l');
SELECT date('2026-02-28', '+1 day'), julianday('2000-01-01 12:00:00'), strftime('%J %s %w', '1999-12-31 23:59:59');
SELECT json_extract('{"a":[1,2.5,{"b":null}]}', '$.a[1]'), json_group_array(id) FROM (SELECT id FROM item LIMIT 5);
SELECT key, value, type FROM json_each('{"x":1e-7,"y":"\u00e9","z":[true]}');
CREATE VIRTUAL TABLE words USING fts5(body);
INSERT INTO words SELECT name || ' and ' || printf('%05d word%d', id, id % 13) FROM item;
SELECT snippet(words, 0, '[', ']', '...', 4), bm25(words) FROM words WHERE words MATCH 'word7 AND item NOT "item 9"' ORDER BY rank, rowid LIMIT 5;
CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1);
INSERT INTO boxes SELECT id, id % 37, id % 37 + 2.5, id % 41, id % 41 + 1.25 FROM item;
SELECT count(*), sum(id) FROM boxes WHERE x0 > 5 AND x1 < 20 AND y0 >= 7.5;
CREATE VIRTUAL TABLE old USING fts4(body, tokenize=porter);
INSERT INTO old VALUES ('linking'), ('linked'), ('a linker links');
SELECT body, offsets(old) FROM old WHERE old MATCH 'link';
PRAGMA integrity_check;
VACUUM;
SELECT sum(pgsize), count(*) FROM dbstat WHERE aggregate = 1;
.dump log
.schema
SELECT sqlite_version(), length(sqlite_source_id());
