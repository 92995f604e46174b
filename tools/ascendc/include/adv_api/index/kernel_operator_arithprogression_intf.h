// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "lib/index/kernel_operator_arithprogression_intf.h"
