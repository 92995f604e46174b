  mov X1, 1
  end
