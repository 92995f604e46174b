.arch c220
loop_begin:
  b loop_begn
  end
