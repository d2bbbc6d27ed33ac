select sum(cents) from orders
