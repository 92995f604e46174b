.arch c220
.const N = 7
  mov X1, N / (N - 7)
  mov X1, (N + 1
  mov X1, N << -1
  mov X1, 3 * * 4
  mov X1, 12abc
  mov X1, 1.25
  end
