.arch c220
  add X1, 1, 2, a=3
  end
