"""The values that states carry along: exact numbers in arrays, and what is saved of them.

`numbers` has one number for each state, or one for each length, and makes exact numbers of remainders modulo primes.
`weights` tells which cycle is the best. `saved` is the work between two vertices, which goes on on any device.
"""
