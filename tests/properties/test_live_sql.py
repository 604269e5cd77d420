# ruff: noqa: E501
"""Law 2: after every batch, a live view equals its SQL evaluated by DuckDB."""

import pytest

from cubekeeper.live.lower.viewlets import Mode
from tests.properties.live_oracle import check

QUERIES = """
SELECT a, b FROM R
SELECT * FROM R
SELECT DISTINCT a, b FROM R
SELECT COUNT(*) FROM R
SELECT COUNT(*), COUNT(a), SUM(a), AVG(a), MIN(a), MAX(a) FROM R
SELECT a, COUNT(*), COUNT(b), SUM(b), AVG(b), MIN(b), MAX(b) FROM R GROUP BY a
SELECT a, SUM(b * c), SUM(b + c), SUM(b - 2 * c) FROM R GROUP BY a
SELECT COUNT(DISTINCT a), SUM(DISTINCT b), AVG(DISTINCT b) FROM R
SELECT a, COUNT(DISTINCT b) FROM R GROUP BY a
SELECT VAR_POP(b), VAR_SAMP(b), STDDEV_POP(b), STDDEV_SAMP(b) FROM R
SELECT a, VAR_POP(b), STDDEV_SAMP(c) FROM R GROUP BY a
SELECT a, SUM(b) FILTER (WHERE c > 1), COUNT(*) FILTER (WHERE c = 1) FROM R GROUP BY a
SELECT R.a, S.d FROM R, S WHERE R.b = S.b
SELECT R.a, SUM(S.d) FROM R JOIN S ON R.b = S.b GROUP BY R.a
SELECT SUM(R.a * S.d) FROM R, S WHERE R.b = S.b
SELECT SUM(R.a * T.price), COUNT(*) FROM R, S, T WHERE R.b = S.b AND S.d = T.k
SELECT x.a, SUM(y.b) FROM R x, R y WHERE x.a = y.a GROUP BY x.a
SELECT x.a, SUM(x.b - y.b) FROM R x, R y WHERE x.a = y.a AND x.c > y.c GROUP BY x.a
SELECT COUNT(*) FROM R, S WHERE R.a < S.d
SELECT a, b, c, d, name FROM R NATURAL JOIN S
SELECT b, a, d FROM R JOIN S USING (b)
SELECT * FROM R CROSS JOIN S
SELECT R.a, S.d FROM R LEFT JOIN S ON R.b = S.b
SELECT R.a, S.d FROM R RIGHT JOIN S ON R.b = S.b
SELECT R.a, S.d FROM R FULL JOIN S ON R.b = S.b
SELECT b, a, d FROM R FULL JOIN S USING (b)
SELECT R.a, S.d FROM R LEFT JOIN S ON R.b = S.b AND S.d > 1
SELECT R.a, COUNT(S.d), COUNT(*), SUM(S.d) FROM R LEFT JOIN S ON R.b = S.b GROUP BY R.a
SELECT R.a, S.d, T.k FROM R LEFT JOIN S ON R.b = S.b LEFT JOIN T ON S.d = T.k
SELECT R.a FROM R LEFT JOIN S ON R.b = S.b WHERE S.d IS NULL
SELECT a FROM R WHERE b IN (1, 2) AND NOT (c = 1 OR c IS NULL)
SELECT a FROM R WHERE a BETWEEN 1 AND 2 OR b <> 1
SELECT a FROM R WHERE a IS DISTINCT FROM b
SELECT name FROM S WHERE name LIKE 'a%' OR name LIKE '%y'
SELECT a FROM R WHERE b IN (SELECT b FROM S)
SELECT a FROM R WHERE b NOT IN (SELECT d FROM S)
SELECT a FROM R WHERE NOT (b IN (SELECT d FROM S WHERE S.b = R.a)) OR a = 1
SELECT a FROM R WHERE EXISTS (SELECT * FROM S WHERE S.b = R.b AND S.d > R.c)
SELECT a FROM R WHERE NOT EXISTS (SELECT 1 FROM S WHERE S.b = R.b)
SELECT a FROM R WHERE EXISTS (SELECT 1 FROM S)
SELECT a FROM R WHERE b > ALL (SELECT d FROM S WHERE S.b = R.a)
SELECT a FROM R WHERE b = ANY (SELECT d FROM S)
SELECT a FROM R WHERE b <= ANY (SELECT d FROM S WHERE S.b > R.c)
SELECT a, b FROM R WHERE b < (SELECT SUM(d) FROM S WHERE S.b = R.b)
SELECT a, b FROM R WHERE b < (SELECT AVG(d) FROM S)
SELECT SUM(b) FROM R WHERE c < (SELECT SUM(d) FROM S WHERE S.b > R.b)
SELECT SUM(x.a * x.b) FROM R x WHERE 0.25 * (SELECT SUM(y.b) FROM R y) > (SELECT SUM(z.b) FROM R z WHERE z.a > x.a)
SELECT a, (SELECT MAX(d) FROM S WHERE S.b = R.b) AS m FROM R
SELECT a, SUM(b) FROM R GROUP BY a HAVING SUM(b) > 1 AND COUNT(*) < 4
SELECT a, SUM(b) FROM R GROUP BY a HAVING SUM(b) > (SELECT MIN(d) FROM S)
SELECT a + 1 AS x, COUNT(*) FROM R GROUP BY a + 1
SELECT CASE WHEN a > 1 THEN 'big' WHEN a IS NULL THEN 'none' ELSE 'small' END AS size, COUNT(*) FROM R GROUP BY 1
SELECT COALESCE(a, b, 0), NULLIF(a, 1), a / 2, a % 2 FROM R
SELECT x.s, COUNT(*) FROM (SELECT a, SUM(b) AS s FROM R GROUP BY a) x GROUP BY x.s
SELECT SUM(x.s * S.d) FROM (SELECT b, COUNT(*) AS s FROM R GROUP BY b) x, S WHERE x.b = S.b
SELECT MAX(x.s) FROM (SELECT a, SUM(b) AS s FROM R GROUP BY a) x
WITH w AS (SELECT a, b FROM R WHERE c > 0), u AS (SELECT a, MAX(b) AS m FROM w GROUP BY a) SELECT w.a, w.b, u.m FROM w JOIN u ON w.a = u.a
SELECT a FROM R UNION ALL SELECT d FROM S
SELECT a FROM R UNION SELECT d FROM S
SELECT a FROM R EXCEPT SELECT d FROM S
SELECT a FROM R INTERSECT SELECT d FROM S
SELECT a FROM R EXCEPT ALL SELECT d FROM S
SELECT a FROM R INTERSECT ALL SELECT d FROM S
SELECT a, b, SUM(c) FROM R GROUP BY ROLLUP (a, b)
SELECT a, b, COUNT(*) FROM R GROUP BY CUBE (a, b)
SELECT a, b, COUNT(*) FROM R GROUP BY GROUPING SETS ((a), (b), ())
SELECT SUM(price), AVG(CAST(price AS DOUBLE)), MIN(price), MAX(price), SUM(price * k) FROM T
SELECT EXTRACT(YEAR FROM day) AS y, EXTRACT(MONTH FROM day) AS m, SUM(price) FROM T GROUP BY 1, 2
SELECT k FROM T WHERE day < DATE '2024-03-01' AND day >= DATE '2024-01-01' + INTERVAL 1 MONTH
SELECT DISTINCT a FROM R WHERE EXISTS (SELECT 1 FROM T WHERE T.a = R.a AND T.price > (SELECT AVG(price) FROM T))
SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM R) x
SELECT a, SUM(CASE WHEN b = 1 THEN c ELSE 0 END) FROM R GROUP BY a
SELECT R.a, MIN(S.d), MAX(S.name) FROM R, S WHERE R.b = S.b GROUP BY R.a
SELECT SUBSTRING(name, 1, 2), UPPER(name), LENGTH(name) FROM S
SELECT a, COUNT(*) FROM R GROUP BY a HAVING a IN (SELECT d FROM S)
SELECT a FROM R WHERE (SELECT COUNT(*) FROM S WHERE S.b = R.b) = 1
""".strip().split("\n")  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_batches(query):
    for seed in range(2):
        check(query, Mode.OPTIMIZED, seed=seed)


@pytest.mark.parametrize("query", QUERIES)
def test_rows_one_by_one(query):
    check(query, Mode.OPTIMIZED, by_row=True, seed=7, count=4)


@pytest.mark.slow
@pytest.mark.parametrize("mode", Mode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("query", QUERIES)
def test_every_mode(query, mode):
    for seed in range(3):
        check(query, mode, seed=seed, count=4, width=4)
        check(query, mode, seed=seed, count=3, width=4, by_row=True)
