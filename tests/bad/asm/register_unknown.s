.arch c220
  mov X32, 1
  mov X1, X40
  mov x1, 1
  mov 5, 1
  end
