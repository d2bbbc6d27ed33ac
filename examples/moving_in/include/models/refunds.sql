select sum(cents) from returns
