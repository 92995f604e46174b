.arch c220
  load_cbuf_to_ca dst=0, src=0, baseIdx=0, repat=1
  end
