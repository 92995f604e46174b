.arch c220
  ld_arg X1, 0, 0
  end X1
