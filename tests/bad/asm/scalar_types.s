.arch c100
  abs.f32 X1, X2
  add.u64 X1, X2, X3
  mov.s64 X1, X2
  end
