-- The six order-book queries of the DBToaster paper (VLDB 2012, appendix A).
CREATE TABLE Bids (t BIGINT NOT NULL, id BIGINT NOT NULL, broker_id INT NOT NULL, price BIGINT NOT NULL, volume BIGINT NOT NULL);
CREATE TABLE Asks (t BIGINT NOT NULL, id BIGINT NOT NULL, broker_id INT NOT NULL, price BIGINT NOT NULL, volume BIGINT NOT NULL);

CREATE VIEW AXF AS
SELECT b.broker_id, SUM(a.volume - b.volume) AS s
FROM Bids b, Asks a
WHERE b.broker_id = a.broker_id AND (a.price - b.price > 1000 OR b.price - a.price > 1000)
GROUP BY b.broker_id;

CREATE VIEW BSP AS
SELECT x.broker_id, SUM(x.volume * x.price - y.volume * y.price) AS s
FROM Bids x, Bids y
WHERE x.broker_id = y.broker_id AND x.t > y.t
GROUP BY x.broker_id;

CREATE VIEW BSV AS
SELECT x.broker_id, SUM(x.volume * x.price * y.volume * y.price * 0.5) AS s
FROM Bids x, Bids y
WHERE x.broker_id = y.broker_id
GROUP BY x.broker_id;

CREATE VIEW MST AS
SELECT b.broker_id, SUM(a.price * a.volume - b.price * b.volume) AS s
FROM Bids b, Asks a
WHERE 0.25 * (SELECT SUM(a1.volume) FROM Asks a1) > (SELECT SUM(a2.volume) FROM Asks a2 WHERE a2.price > a.price)
  AND 0.25 * (SELECT SUM(b1.volume) FROM Bids b1) > (SELECT SUM(b2.volume) FROM Bids b2 WHERE b2.price > b.price)
GROUP BY b.broker_id;

CREATE VIEW PSP AS
SELECT SUM(a.price - b.price) AS s
FROM Bids b, Asks a
WHERE b.volume > 0.0001 * (SELECT SUM(b1.volume) FROM Bids b1)
  AND a.volume > 0.0001 * (SELECT SUM(a1.volume) FROM Asks a1);

CREATE VIEW VWAP AS
SELECT SUM(b1.price * b1.volume) AS s
FROM Bids b1
WHERE 0.25 * (SELECT SUM(b3.volume) FROM Bids b3) > (SELECT SUM(b2.volume) FROM Bids b2 WHERE b2.price > b1.price);
