.arch c220
  set_flag PIPE_M, PIPE_V, EVENT_ID64
  set_flag PIPE_M, PIPE_V, EVENT_IDX
  set_flag PIPE_M, PIPE_V, 64
  end
