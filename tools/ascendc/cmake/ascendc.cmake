# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# ascendc_library() and its relatives, where projects for silicon look for them.
include("${CMAKE_CURRENT_LIST_DIR}/../../../lib/cmake/ASC/ASCLibrary.cmake")
