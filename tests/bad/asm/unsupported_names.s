.arch c220
  winograd_conv 0, 0, 0
  vld 0
  mad_b8u2 0, 0
  end
