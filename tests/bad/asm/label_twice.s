.arch c220
loop:
  mov X1, 1
loop:
  end
