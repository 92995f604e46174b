.arch c220
  winograd_conv 0, 0, 0
  vld 0
  load_cbuf_to_cb_sp 0, 0
  end
