.arch c220
  mov X1, 1
  mad.f162f32 0, 0, 0
