# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Programs that several tests of the Python module run."""

# y = x + x, of eight float32 numbers: the arguments are the addresses of x and y.
DOUBLE = """ld_arg X1, 0
ld_arg X2, 1
copy_gm_to_ubuf 0, X1, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0
set_flag PIPE_MTE2, PIPE_V, EVENT_ID0
wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0
vadd.f32 0x1000, 0, 0, 1, 1, 1, 1, 8, 8, 8
set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
copy_ubuf_to_gm X2, 0x1000, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0
end
"""
