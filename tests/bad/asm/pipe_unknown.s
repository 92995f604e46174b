.arch c220
  set_flag PIPE_MTE4, PIPE_M, EVENT_ID0
  pipe_barrier 3
  end
