-- The six decision-support queries of the DBToaster paper (VLDB 2012, appendix A).
CREATE TABLE Customer (custkey INT NOT NULL, mktsegment STRING, nationkey INT, acctbal DECIMAL(12,2));
CREATE TABLE Orders (orderkey INT NOT NULL, custkey INT, orderdate DATE, shippriority INT);
CREATE TABLE Lineitem (orderkey INT, partkey INT, suppkey INT, quantity DECIMAL(12,2), extendedprice DECIMAL(12,2), discount DECIMAL(12,2), shipdate DATE);
CREATE TABLE Part (partkey INT NOT NULL, type STRING);
CREATE TABLE Supplier (suppkey INT NOT NULL, nationkey INT);
CREATE TABLE Partsupp (partkey INT NOT NULL, suppkey INT NOT NULL, supplycost DECIMAL(12,2), availqty INT);
CREATE TABLE Nation (nationkey INT NOT NULL, regionkey INT) TBLPROPERTIES ('static' = 'true');

CREATE VIEW Q3 AS
SELECT o.orderkey, o.orderdate, o.shippriority, SUM(li.extendedprice * (1 - li.discount)) AS revenue
FROM Customer c, Orders o, Lineitem li
WHERE c.mktsegment = 'BUILDING' AND o.custkey = c.custkey AND li.orderkey = o.orderkey
  AND o.orderdate < DATE '1995-03-15' AND li.shipdate > DATE '1995-03-15'
GROUP BY o.orderkey, o.orderdate, o.shippriority;

CREATE VIEW Q11 AS
SELECT ps.partkey, SUM(ps.supplycost * ps.availqty) AS worth
FROM Partsupp ps, Supplier s
WHERE ps.suppkey = s.suppkey
GROUP BY ps.partkey;

CREATE VIEW Q17 AS
SELECT SUM(l.extendedprice) AS s
FROM Lineitem l, Part p
WHERE p.partkey = l.partkey
  AND l.quantity < 0.005 * (SELECT SUM(l2.quantity) FROM Lineitem l2 WHERE l2.partkey = p.partkey);

CREATE VIEW Q18 AS
SELECT c.custkey, SUM(l1.quantity) AS q
FROM Customer c, Orders o, Lineitem l1
WHERE 100 < (SELECT SUM(l2.quantity) FROM Lineitem l2 WHERE l1.orderkey = l2.orderkey)
  AND c.custkey = o.custkey AND o.orderkey = l1.orderkey
GROUP BY c.custkey;

CREATE VIEW Q22 AS
SELECT c1.nationkey, SUM(c1.acctbal) AS s
FROM Customer c1
WHERE c1.acctbal < (SELECT SUM(c2.acctbal) FROM Customer c2 WHERE c2.acctbal > 0)
  AND 0 = (SELECT COUNT(*) FROM Orders o WHERE o.custkey = c1.custkey)
GROUP BY c1.nationkey;

CREATE VIEW SSB4 AS
SELECT sn.regionkey AS supplier_region, cn.regionkey AS customer_region, p.type, SUM(li.quantity) AS q
FROM Customer c, Orders o, Lineitem li, Part p, Supplier s, Nation cn, Nation sn
WHERE c.custkey = o.custkey AND o.orderkey = li.orderkey AND p.partkey = li.partkey AND s.suppkey = li.suppkey
  AND o.orderdate >= DATE '1997-01-01' AND o.orderdate < DATE '1998-01-01'
  AND cn.nationkey = c.nationkey AND sn.nationkey = s.nationkey
GROUP BY sn.regionkey, cn.regionkey, p.type;
