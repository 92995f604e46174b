.arch c220
  add X1, , 2
  add X1, 1,
