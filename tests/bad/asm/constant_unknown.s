.arch c220
.const TILE_M = 16
  mov X1, TILE_N * 2
  mov X2, SIZE
  end
