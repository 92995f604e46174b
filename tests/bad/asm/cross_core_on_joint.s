.arch m200
  set_ffts_base_addr 1
  ffts_cross_core_sync PIPE_MTE3, 0x101
  wait_flag_dev 1
  get_subblockid X1
  end
