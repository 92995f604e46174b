# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# find_package(Vinci): the target Vinci::vinci.
include("${CMAKE_CURRENT_LIST_DIR}/VinciTargets.cmake")
