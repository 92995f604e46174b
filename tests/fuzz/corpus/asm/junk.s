.arch c220
  mov X1 1
  mov X1, 1 end
  @foo
  mov X1, 1 § 2
12 mov X1, 1
  mov X1, [X2]
  end
