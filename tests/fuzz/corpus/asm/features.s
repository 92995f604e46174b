; a comment
.arch c220
.const TILE = 4 * 16   // rows
.alias addr = X5
start:
  ld_arg X1, 0
  mov addr, ~0
  add addr, addr, b=3
  mov X2, -1.5h
loop: sub X3, X3, 1
  copy_gm_to_cbuf 0x0, X1, 0, TILE, 8, 0, 0
  set_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0
  load_cbuf_to_ca dst=0, src=0x400, baseIdx=0, repeat=8, srcStride=1, sid=0, transpose=0
  mad.f162f32 0, 0, 0, 64, 64, 64, X9
  bgt X3, 0, loop
  end
