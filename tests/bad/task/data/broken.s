  ld_arg X1, 0
  ad X1, X1, 4
