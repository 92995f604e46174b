.arch c100
.const A = (1 + 2) * 3 << 4 | ~0x7 & 0b11 ^ 0o17 % 5 / 2 - 1
.const H = -1.5h
mov X1, A
mov X2, H
mov X31, 6e-8h
set_vector_mask ~0, 0xffff_ffff
mad.f162f16 0, 0x200, 0, m=16, k=16, n=16, init=1
pipe_barrier PIPE_ALL
b 0
