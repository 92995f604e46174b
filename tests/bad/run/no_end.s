.arch c220
mov X1, 1
add X1, X1, 1
