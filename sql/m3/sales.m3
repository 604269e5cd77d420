-- Sales by exchange rate, written by hand (Example 2 of the paper).
stream O(ordk bigint not null, custk bigint not null, xch bigint not null);
stream LI(ordk bigint not null, partk bigint not null, price bigint not null);

map Q[]: bigint := Sum[](O(ordk, custk, xch) * LI(ordk, partk, price) * {price} * {xch});
map Q_O[ordk bigint not null]: bigint := Sum[ordk](LI(ordk, partk, price) * {price});
map Q_LI[ordk bigint not null]: bigint := Sum[ordk](O(ordk, custk, xch) * {xch});

on insert into O(k, c, x) { Q[] += {x} * Q_O[k]; Q_LI[k] += {x}; }
on delete from O(k, c, x) { Q[] += -{x} * Q_O[k]; Q_LI[k] += -{x}; }
on insert into LI(k, p, price) { Q[] += {price} * Q_LI[k]; Q_O[k] += {price}; }
on delete from LI(k, p, price) { Q[] += -{price} * Q_LI[k]; Q_O[k] += -{price}; }

view sales(total bigint not null): (total := Q[]);
