.arch c220
  load_cbuf_to_cc 0, 0, 0, 1, 1, 0, 0
  end
